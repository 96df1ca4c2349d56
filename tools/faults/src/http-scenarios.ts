import { setTimeout as sleep } from "node:timers/promises";
import { openRedisServer } from "@petstore/harness/redis";
import { type Api, bothApis, restRouter } from "./api.js";
import { nowMs } from "./ask.js";
import { bannedFloodScenario } from "./banned-flood-scenario.js";
import { documentsScenario } from "./documents-scenario.js";
import { patient, unthrottled } from "./environment.js";
import { hugeScenario } from "./huge-scenario.js";
import { atMost, exactly, ownP99 } from "./measure.js";
import { outputScenario } from "./output-scenario.js";
import { pipeliningScenario } from "./pipelining-scenario.js";
import { openRawClient } from "./raw-client.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { openSlowClient, type SlowClient, type Slowness } from "./slow-client.js";
import { roomy, type Stage } from "./stage.js";
import { hasErrorBody, hasTripleOnce } from "./wire-answers.js";
import { authorization, beginningOf } from "./wire-requests.js";
import { wireScenario } from "./wire-scenario.js";

const host = "Host: petstore\r\n";
/** The limits of the service, and how late it may look at them. */
const headersWithinMs = 10_000 + 5_000;
const bodyWithinMs = 30_000 + 5_000;
const responseWithinMs = 30_000 + 2 * 5_000;
const toleranceMs = 3_000;
/** What a timer and the scheduler round a p99 of few milliseconds by, twice. */
const noiseMs = 2;
const batches = 200;
const batchPauseMs = 50;

interface Crowd {
  readonly what: string;
  readonly count: number;
  readonly withinMs: number;
  readonly slowness: Slowness;
}

function crowds(apiKey: string): Crowd[] {
  const key = authorization(apiKey);
  const list = `GET /v1/pets?status=sold&limit=100 HTTP/1.1\r\n${host}${key}\r\n`;
  return [
    { what: "silent", count: 660, withinMs: headersWithinMs, slowness: { opening: "" } },
    {
      what: "slow headers",
      count: 660,
      withinMs: headersWithinMs,
      slowness: { opening: `GET /v1/pets HTTP/1.1\r\n${host}`, drip: "X-Slow: 1\r\n" },
    },
    {
      what: "slow body",
      count: 660,
      withinMs: bodyWithinMs,
      slowness: { opening: createOf(restRouter, apiKey), drip: " " },
    },
    // More than the buffers of the machine hold, so that the service has the rest.
    { what: "slow reading", count: 20, withinMs: responseWithinMs, slowness: { opening: list.repeat(100), sip: 100 } },
  ];
}

/** But for its body. */
function createOf(api: Api, apiKey: string): string {
  return beginningOf(api, `${authorization(apiKey)}Content-Type: application/json\r\nContent-Length: 1000\r\n`);
}

/** So that a list of them has more than 100 KB. */
async function createLongNames(origin: string, apiKey: string): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "\u{1f407}".repeat(255), categoryId: 1, status: "sold" });
  for (let pet = 0; pet < 100; pet += 1) {
    const answer = await fetch(`${origin}/v1/pets`, { method: "POST", headers, body });
    if (answer.status !== 201) throw new Error(`a pet with a long name was answered ${answer.status}`);
    await answer.text();
  }
}

export const httpScenarios: readonly Scenario[] = [
  documentsScenario,
  wireScenario,
  hugeScenario,
  outputScenario,
  bannedFloodScenario,
  pipeliningScenario,
  {
    group: "http",
    needs: ["redis-server"],
    name: "slow-clients",
    cause:
      "2,000 connections: silent, slow headers, slow body, slow reading; two to each API that stop in the middle; usual load beside them",
    expected: "all cut at the limits, those that stop with an answer of 408; p99 of the others <= 2x",
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      const [service, other] = await stage.startServices([redis.url], { ...patient, ...unthrottled }, bothApis);
      if (service === undefined || other === undefined) throw new Error("there is no service");
      const load = await stage.load({ limits: roomy, callers: 16, pauseMs: 20, on: [service] });
      await createLongNames(service.origin, load.apiKey);
      await sleep(5_000);
      const floodAtMs = nowMs();
      const opened = crowds(load.apiKey).map((crowd) => ({ crowd, clients: [] as SlowClient[] }));
      // Not all at once: what they ask for is work that was paid for, and not what this is about.
      for (let batch = 0; batch < batches; batch += 1) {
        for (const { crowd, clients } of opened) {
          const due = Math.floor((crowd.count * (batch + 1)) / batches);
          while (clients.length < due) clients.push(openSlowClient(service.port, crowd.slowness));
        }
        await sleep(batchPauseMs);
      }
      const openedAtMs = nowMs();
      const late = Promise.all([service, other].map((one) => checkTooLate(stage, one, load.apiKey)));
      await sleep(responseWithinMs + toleranceMs);
      await load.stop();
      for (const { clients } of opened) for (const client of clients) client.readAll();
      await sleep(2_000);
      const before = ownP99(load, ({ sentAtMs }) => sentAtMs < floodAtMs);
      const during = ownP99(load, ({ sentAtMs }) => sentAtMs > openedAtMs);
      const checks = opened.flatMap(({ crowd, clients }) => checkCut(crowd, clients));
      for (const client of opened.flatMap(({ clients }) => clients)) client[Symbol.dispose]();
      return [
        exactly(2_000, "slow connections", opened.flatMap(({ clients }) => clients).length),
        ...checks,
        atMost(2 * before + noiseMs, "others meanwhile, p99 of a usual second", during, "ms"),
        ...(await late).flat(),
      ];
    },
  },
];

/** Clients that stop in the middle, and then only wait for the answer. */
async function checkTooLate(stage: Stage, { port, api }: Service, apiKey: string): Promise<Check[]> {
  const checks = await Promise.all(
    [
      {
        what: "headers that do not end",
        bytes: `GET ${api.list.path} HTTP/1.1\r\n${host}`,
        withinMs: headersWithinMs,
      },
      { what: "a body that does not end", bytes: createOf(api, apiKey), withinMs: bodyWithinMs },
    ].map(async ({ what, bytes, withinMs }) => {
      using client = openRawClient(port);
      await client.send(bytes);
      await client.until(2, withinMs + toleranceMs);
      const answers = client.answers();
      // The wait is the fault, and no hang.
      stage.keep(answers.map((answer) => ({ ...answer, durationMs: 0 })));
      const right = answers.filter((one) => one.status === 408 && hasErrorBody(one) && hasTripleOnce(one));
      return [
        exactly(1, `${api.name}: ${what}: answers`, answers.length),
        exactly(1, `${api.name}: of them 408 with the Error body and the X-RateLimit triple`, right.length),
      ];
    }),
  );
  return checks.flat();
}

function checkCut({ what, withinMs, slowness }: Crowd, clients: readonly SlowClient[]): Check[] {
  const cut = clients.flatMap(({ cutAfterMs }) => cutAfterMs ?? []);
  return [
    exactly(0, `${what}: connections still open`, clients.length - cut.length),
    // A client that does not read is told at the end of the row alone.
    ...(slowness.sip === undefined
      ? [atMost(withinMs + toleranceMs, `${what}: longest`, Math.max(...cut, 0), "ms")]
      : []),
  ];
}
