import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, openRawClient, type RawAnswer } from "@petstore/harness/network";
import { hostileDocuments } from "@petstore/harness/responses";
import type { Figures } from "@petstore/harness/test-with-figures";
import { authorization, graphql, graphqlCall, requestOf } from "../environment/apis.js";
import { mintUnknownKey } from "../environment/database.js";
import type { Environment } from "../environment/environment.js";
import { it } from "../environment/it.js";
import { median } from "../environment/measures.js";
import { count, endOf, isBanned, isFailure, resultOf, slowestMs } from "../environment/results.js";
import { mebibytesOf, quickBans, type Service } from "../environment/services.js";

const floodConnections = 64;
const bannedFloodMs = 6_000;
/** The flood reaches its full speed within this time. */
const settleMs = 1_000;
const slowdownAtMost = 3;
const cheapBody = JSON.stringify({ query: "{__typename}" });
const expensive = ["100 duplicate fields with selections", "fragments in a circle", "300 unknown fields"];

it("banned-key-flood: expensive documents slow others no more than cheap ones", async ({ environment, figures }) => {
  const service = await environment.startService({ ...quickBans, BAN_FIRST_MS: "3600000" }, { api: graphql });
  await environment.warmUp();
  const bannedKey = await environment.issueKey({ perMinute: 1, perDay: 1_000_000 });
  const customerKey = await environment.issueKey();
  const banned = { clients: floodConnections, apiKey: bannedKey };
  const flood = (body: string, requests: number) =>
    environment.sendBurst({ ...banned, requests, call: () => graphqlCall(body) });

  /** The median of the customer's requests during the flood. */
  const customerUnder = async (body: string) => {
    let isOver = false;
    let admitted = 0;
    const flooding = (async () => {
      while (!isOver) admitted += count(await flood(body, 4 * floodConnections), ({ status }) => status !== 429);
    })();
    await sleep(settleMs);
    const durations: number[] = [];
    const endMs = performance.now() + bannedFloodMs;
    while (performance.now() < endMs) {
      const answer = await environment.sendOne(service, customerKey);
      if (answer.status !== 200) throw new Error(`the customer was answered ${answer.status}`);
      durations.push(answer.durationMs);
    }
    isOver = true;
    await flooding;
    return { medianMs: median(durations), admitted };
  };

  const answers = await flood(cheapBody, 20_000);
  if (!answers.some(isBanned)) throw new Error("the key was not banned");
  const cheap = await customerUnder(cheapBody);
  for (const name of expensive) {
    const document = hostileDocuments.find((one) => one.name === name);
    if (document === undefined) throw new Error(`there is no document "${name}"`);
    const { medianMs, admitted } = await customerUnder(document.write(""));
    const what = `${name}: the customer's p50, times the p50 under cheap documents`;
    figures.atMost(slowdownAtMost, what, medianMs / cheap.medianMs);
    figures.exactly(0, `${name}: answers to the banned key other than 429`, admitted);
  }
  environment.checkAlive();
});

const connections = 60;
const requestsPerConnection = 2_500;
const tinyRequest = "GET /a HTTP/1.1\r\nHost:\r\n\r\n";
/** The service closes a connection after this number of answers, or earlier at the limit of the whole process. */
const maxOutstanding = 64;
const memoryLimitMebibytes = 256;
const answeredWithinMs = 2_000;
/** The client opens closed connections again during this time. */
const floodMs = 5_000;
/** A connection that is slower counts as not closed. */
const closedWithinMs = 30_000;
/** One address may have this number of connections. */
const unknownKeyConnections = 1_000;
/** 64,000 outstanding requests do not fit in this heap. */
const smallHeap = { NODE_OPTIONS: `--max-old-space-size=${memoryLimitMebibytes}` };

it("pipelining-flood: serves another client within 2 s, in 256 MiB", async ({ environment, figures }) => {
  // For a moment after the second flood.
  environment.allowFailures();
  const services = await environment.startServices(smallHeap);
  await environment.warmUp();
  for (const service of services) {
    await floodWithoutKey(environment, figures, service);
    await floodWithUnknownKeys(environment, figures, service);
  }
  environment.checkAlive();
});

async function floodWithoutKey(environment: Environment, figures: Figures, service: Service): Promise<void> {
  const { name } = service.api;
  const other = await environment.startLoad({ clients: 1, pauseMs: 20, targets: [service] });
  await sleep(1_000);
  const startedAtMs = nowMs();
  const attackers = Array.from({ length: connections }, () => pipelineUntil(service, startedAtMs + floodMs));
  const closed = (await Promise.all(attackers)).flat();
  environment.keep(closed.flat().map(resultOf));
  await other.stop();
  const during = other.results.filter((result) => endOf(result) >= startedAtMs);
  const isRight = (answers: readonly RawAnswer[]) =>
    answers.length <= maxOutstanding && answers.at(-1)?.headers.connection === "close";
  const wrong = count(closed, (answers) => !isRight(answers));
  figures.atLeast(connections, `${name}: connections that pipelined`, closed.length);
  figures.exactly(0, `${name}: connections not closed after at most ${maxOutstanding} answers`, wrong);
  figures.atLeast(2, `${name}: requests of another client during the flood`, during.length);
  figures.count(0, `${name}: failures of the other client`, during, isFailure);
  figures.atMost(answeredWithinMs, `${name}: the slowest of the other client`, slowestMs(during), "ms");
  figures.atMost(memoryLimitMebibytes, `${name}: largest RSS`, await mebibytesOf(service, "VmHWM"), "MiB");
}

/** The answers on each connection. */
async function pipelineUntil({ port }: Service, untilMs: number): Promise<(readonly RawAnswer[])[]> {
  const closed: (readonly RawAnswer[])[] = [];
  do closed.push(await answersTo(port, tinyRequest.repeat(requestsPerConnection)));
  while (nowMs() < untilMs);
  return closed;
}

/** The answers until the server closes the connection. */
async function answersTo(port: number, bytes: string): Promise<readonly RawAnswer[]> {
  using client = openRawClient(port);
  client.write(bytes);
  await client.until(Number.POSITIVE_INFINITY, closedWithinMs);
  return client.answers();
}

async function floodWithUnknownKeys(environment: Environment, figures: Figures, service: Service): Promise<void> {
  const name = `${service.api.name}, unknown keys`;
  const { list } = service.api;
  // Made before the flood: to make the requests takes longer than to send them.
  const batches = Array.from({ length: unknownKeyConnections }, () =>
    Array.from({ length: maxOutstanding }, (_, index) => {
      const close = index === maxOutstanding - 1 ? "Connection: close\r\n" : "";
      return requestOf(list, authorization(mintUnknownKey()) + close);
    }).join(""),
  );
  const answers = (await Promise.all(batches.map((bytes) => answersTo(service.port, bytes)))).flat();
  const endedAtMs = nowMs();
  const other = await environment.startLoad({ clients: 1, pauseMs: 20, targets: [service] });
  await sleep(answeredWithinMs);
  await other.stop();
  const served = other.results.filter((result) => !isFailure(result));
  const firstMs = Math.min(...served.map(endOf)) - endedAtMs;
  figures.atLeast(unknownKeyConnections, `${name}: answers to the flood`, answers.length);
  figures.atMost(answeredWithinMs, `${name}: another client is served after`, firstMs, "ms");
  figures.atMost(memoryLimitMebibytes, `${name}: largest RSS`, await mebibytesOf(service, "VmHWM"), "MiB");
}
