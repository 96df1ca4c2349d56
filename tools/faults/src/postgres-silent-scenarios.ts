import { setTimeout as sleep } from "node:timers/promises";
import { openFaultProxy } from "@petstore/harness/fault-proxy";
import { bothApis } from "./api.js";
import { nowMs } from "./ask.js";
import { type Exchange, isCivil, isFailure, isGood } from "./exchange.js";
import { atLeast, atMost, checkAlive, count, exactly, ownP99 } from "./measure.js";
import type { Check, Scenario } from "./scenario.js";
import type { Readiness, Service } from "./service.js";
import { type Load, roomy } from "./stage.js";

/** The defaults of the service, with what it adds for the server's own answer, and what a busy machine may add. */
const readWithinMs = 1_000 + 100 + 300;
const writeWithinMs = 3_000 + 100 + 300;
/** A create may first wait for a connection that another create holds. */
const lockedWriteWithinMs = 1_000 + writeWithinMs;
const lockedSeconds = 10;
const silentMs = 8_000;
/** The drain of requests under way, the longest statement, and the end of its connection. */
const stopWithinMs = 2_500 + 3_100 + 500 + 400;

export const postgresSilentScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "writes-locked",
    cause: `the table of pets is locked for writes for ${lockedSeconds} s, under load`,
    expected: "creates 503 at the limit of a write; lists as fast as before; /readyz stays 200",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      const services = await stage.startCold(bothApis);
      await stage.warmUp();
      const load = await stage.load({ limits: roomy, callers: 32, pauseMs: 50 });
      await sleep(4_000);
      const lockedAtMs = stage.mark();
      const locking = server.query(`begin; lock table pets in share mode; select pg_sleep(${lockedSeconds}); commit`);
      const seen = await watchReadiness(services, locking);
      const freeAtMs = stage.mark();
      await sleep(3_000);
      await load.stop();
      const lists = { ...load, exchanges: load.exchanges.filter((one) => !isCreate(one)) };
      const before = ownP99(lists, ({ sentAtMs }) => sentAtMs < lockedAtMs);
      const during = ownP99(lists, ({ sentAtMs }) => sentAtMs > lockedAtMs && sentAtMs < freeAtMs);
      return [
        ...checkFailures(load.exchanges.filter(isCreate), "creates", lockedWriteWithinMs),
        exactly(
          0,
          "creates answered neither 2xx nor 503",
          count(load.exchanges, (one) => isCreate(one) && !isGood(one) && !isCivil(one)),
        ),
        exactly(0, "lists that failed", count(lists.exchanges, isFailure)),
        atMost(Math.max(before, 0) + 25, "lists meanwhile, p99 of a usual second", during, "ms"),
        atLeast(20, "looks at /readyz", seen.length),
        exactly(
          0,
          "of them not 200",
          count(seen, (one) => one === "not ready"),
        ),
        exactly(0, "failures later than 1 s after it", countFailuresAfter(load, freeAtMs + 1_000)),
        ...checkAlive(services),
      ];
    },
  },
  {
    group: "postgres",
    name: "postgres-vanished",
    cause: `every connection to PostgreSQL is silent for ${silentMs / 1_000} s, old ones and new ones, under load`,
    expected: "503 at the limit of a statement; /readyz 503; SIGTERM ends a process; healthy within 2 s of its return",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      const proxy = stage.use(await openFaultProxy({ url: server.url }));
      const services = await stage.startCold(bothApis, { DATABASE_URL: proxy.url });
      const stopped = await stage.startMore(bothApis);
      await stage.warmUp();
      const load = await stage.load({ limits: roomy, on: services });
      const loadOfStopped = await stage.load({ limits: roomy, on: stopped, callers: 16 });
      await sleep(2_000);
      const silentAtMs = stage.mark();
      await proxy.blackHole();
      await until(services, (all) => all.every((one) => one === "not ready"));
      const seenWithinMs = nowMs() - silentAtMs;
      const ends = await Promise.all(stopped.map((service) => service.stop()));
      await loadOfStopped.stop();
      await sleep(Math.max(0, silentAtMs + silentMs - nowMs()));
      const backAtMs = stage.mark();
      await proxy.restore();
      await until(services, (all) => all.every((one) => one !== "not ready"));
      const healthyWithinMs = nowMs() - backAtMs;
      await sleep(4_000);
      await load.stop();
      return [
        ...checkFailures(load.exchanges.filter(isCreate), "creates", writeWithinMs),
        ...checkFailures(
          load.exchanges.filter((one) => !isCreate(one)),
          "lists",
          readWithinMs,
        ),
        atMost(3_000, "/readyz 503 after", seenWithinMs, "ms"),
        ...ends.flatMap(({ exitCode, withinMs }, index) => [
          exactly(0, `${stopped[index]?.api.name}: exit code after SIGTERM`, exitCode ?? Number.NaN),
          atMost(stopWithinMs, `${stopped[index]?.api.name}: ended after`, withinMs, "ms"),
        ]),
        atMost(2_000, "/readyz 200 after the return", healthyWithinMs, "ms"),
        exactly(0, "failures later than 2 s after the return", countFailuresAfter(load, backAtMs + 2_000)),
        ...checkAlive(services),
      ];
    },
  },
];

function isCreate({ asked }: Exchange): boolean {
  return asked !== undefined;
}

function checkFailures(exchanges: readonly Exchange[], what: string, withinMs: number): Check[] {
  const failures = exchanges.filter(isFailure);
  return [
    atLeast(1, `${what} that failed`, failures.length),
    exactly(
      0,
      "of them not 503 with Retry-After",
      count(failures, (one) => !isCivil(one)),
    ),
    atMost(withinMs, "slowest of them", Math.max(...failures.map(({ durationMs }) => durationMs)), "ms"),
  ];
}

/** Failures of the requests that were sent after `atMs`. */
function countFailuresAfter({ exchanges }: Load, atMs: number): number {
  return count(exchanges, (one) => isFailure(one) && one.sentAtMs > atMs);
}

/** What `/readyz` says until the work is done. */
async function watchReadiness(services: readonly Service[], work: Promise<unknown>): Promise<Readiness[]> {
  const seen: Readiness[] = [];
  let isDone = false;
  const done = work.then(() => {
    isDone = true;
  });
  while (!isDone) {
    seen.push(...(await Promise.all(services.map((service) => service.readiness()))));
    await sleep(200);
  }
  await done;
  return seen;
}

const timeoutMs = 15_000;

async function until(services: readonly Service[], isSo: (all: readonly Readiness[]) => boolean): Promise<void> {
  const startMs = performance.now();
  while (performance.now() - startMs < timeoutMs) {
    if (isSo(await Promise.all(services.map((service) => service.readiness())))) return;
    await sleep(20);
  }
}
