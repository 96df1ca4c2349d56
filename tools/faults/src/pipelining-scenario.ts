import { setTimeout as sleep } from "node:timers/promises";
import { bothApis } from "./api.js";
import { nowMs } from "./ask.js";
import { endOf } from "./exchange.js";
import { atLeast, atMost, checkAlive, exactly } from "./measure.js";
import { openRawClient, type RawAnswer } from "./raw-client.js";
import { peakMebibytes } from "./resident-memory.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { roomy, type Stage } from "./stage.js";
import { floodWithUnknownKeys } from "./unknown-key-flood.js";

const connections = 60;
const requestsPerConnection = 2_500;
const tinyRequest = "GET /a HTTP/1.1\r\nHost:\r\n\r\n";
/** The number of answers before the service closes the connection. */
const maxOutstanding = 64;
const memoryLimitMebibytes = 256;
const answeredWithinMs = 2_000;
/** Until then the client opens each closed connection again. */
const floodMs = 5_000;
/** A connection that is slower counts as not closed. */
const closedWithinMs = 30_000;
/** As many connections as one address may have, each with as many requests as it may have outstanding. */
const unknownKeyFlood = {
  connections: 1_000,
  requestsPerConnection: maxOutstanding,
  idleTimeoutMs: closedWithinMs,
};
/** A heap that 64,000 outstanding requests do not fit in. */
const smallHeap = { NODE_OPTIONS: `--max-old-space-size=${memoryLimitMebibytes}` };

export const pipeliningScenario: Scenario = {
  group: "http",
  name: "pipelining-flood",
  cause: `heap of ${memoryLimitMebibytes} MiB; ${connections} connections without a key that each pipeline ${requestsPerConnection} tiny requests, again and again; then ${unknownKeyFlood.connections} that each pipeline ${maxOutstanding} requests with a different unknown key each`,
  expected: `RSS <= ${memoryLimitMebibytes} MiB; another client answered within ${answeredWithinMs / 1_000} s, in the second flood right after it; no process ends`,
  // For a moment after the second flood.
  mayFail: true,
  async run(stage) {
    const services = await stage.startCold(bothApis, smallHeap);
    await stage.warmUp();
    const checks: Check[] = [];
    for (const service of services) {
      checks.push(...(await flood(stage, service)));
      checks.push(...(await floodOfUnknownKeys(stage, service)));
    }
    return [...checks, ...checkAlive(services)];
  },
};

async function flood(stage: Stage, service: Service): Promise<Check[]> {
  const { name } = service.api;
  const other = await stage.load({ limits: roomy, callers: 1, pauseMs: 20, on: [service] });
  await sleep(1_000);
  const startedAtMs = nowMs();
  const attackers = Array.from({ length: connections }, () => attack(stage, service, startedAtMs + floodMs));
  const closed = (await Promise.all(attackers)).flat();
  await other.stop();
  const during = other.exchanges.filter((exchange) => endOf(exchange) >= startedAtMs);
  const wrong = closed.filter((answers) => answers.length !== maxOutstanding || !isClosing(answers.at(-1)));
  return [
    atLeast(connections, `${name}: connections that pipelined`, closed.length),
    exactly(0, `${name}: of them not answered ${maxOutstanding} times and then closed`, wrong.length),
    atLeast(2, `${name}: requests of another client meanwhile`, during.length),
    exactly(0, `${name}: of them failed`, during.filter(({ failure }) => failure !== undefined).length),
    atMost(answeredWithinMs, `${name}: the slowest`, Math.max(...during.map(({ durationMs }) => durationMs)), "ms"),
    atMost(memoryLimitMebibytes, `${name}: largest RSS`, await peakMebibytes(service), "MiB"),
  ];
}

async function floodOfUnknownKeys(stage: Stage, service: Service): Promise<Check[]> {
  const name = `${service.api.name}, unknown keys`;
  const answers = await floodWithUnknownKeys(service, unknownKeyFlood);
  const endedAtMs = nowMs();
  const other = await stage.load({ limits: roomy, callers: 1, pauseMs: 20, on: [service] });
  await sleep(answeredWithinMs);
  await other.stop();
  const served = other.exchanges.filter(({ failure }) => failure === undefined);
  const firstAfterMs = Math.min(...served.map(endOf)) - endedAtMs;
  return [
    atLeast(unknownKeyFlood.connections, `${name}: answers to the flood`, answers),
    atMost(answeredWithinMs, `${name}: until another client is served after it`, firstAfterMs, "ms"),
    atMost(memoryLimitMebibytes, `${name}: largest RSS`, await peakMebibytes(service), "MiB"),
  ];
}

/** The answers of each connection it made. */
async function attack(stage: Stage, { port }: Service, untilMs: number): Promise<(readonly RawAnswer[])[]> {
  const closed: (readonly RawAnswer[])[] = [];
  do {
    using client = openRawClient(port);
    void client.send(tinyRequest.repeat(requestsPerConnection));
    await client.until(Number.POSITIVE_INFINITY, closedWithinMs);
    const answers = client.answers();
    stage.keep(answers);
    closed.push(answers);
  } while (nowMs() < untilMs);
  return closed;
}

function isClosing(answer: RawAnswer | undefined): boolean {
  return answer?.headers.connection === "close";
}
