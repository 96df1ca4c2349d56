import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { mintApiKey } from "@petstore/core";
import { apis, bothApis } from "./api.js";
import { nowMs } from "./ask.js";
import { type Exchange, endOf, isCivil, isFailure, isGood } from "./exchange.js";
import { atLeast, atMost, checkAlive, count, exactly } from "./measure.js";
import { startProgram } from "./program.js";
import type { Check, Scenario } from "./scenario.js";
import { type Load, millisecondsUntil, roomy } from "./stage.js";

/** The defaults of the service, and what a busy machine may add. */
const readTimeoutMs = 1_000;
const writeTimeoutMs = 3_000;
const acquireTimeoutMs = 1_000;
const slackMs = 100;
const terminations = { perSecond: 20, seconds: 60 };

export const postgresAwayScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "postgres-absent",
    cause: "PostgreSQL is not there when the services start, and appears",
    expected: "live 200, ready 503, then works without a restart",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      await server.kill();
      const services = await stage.startCold(bothApis);
      const probes = await Promise.all(
        services.map(({ origin }) => Promise.all(["/livez", "/readyz"].map((path) => statusOf(`${origin}${path}`)))),
      );
      // Well-formed, so that only the database can tell that nobody has it.
      const absentKey = mintApiKey("test", randomBytes);
      const away = await stage.burst({ requests: 200, callers: 8, apiKey: () => absentKey, call: ({ list }) => list });
      stage.mark();
      await server.restart();
      const readyMs = await millisecondsUntil("ready", services);
      const load = await stage.load({ limits: roomy, pauseMs: 0, callers: 16, requests: 2_000 });
      await load.done;
      return [
        exactly(
          services.length,
          "of both answer /livez 200",
          count(probes, ([live]) => live === 200),
        ),
        exactly(
          services.length,
          "of both answer /readyz 503",
          count(probes, ([, ready]) => ready === 503),
        ),
        exactly(
          0,
          "requests not answered 503 with Retry-After",
          count(away, (one) => !isCivil(one)),
        ),
        atMost(1_000, "both ready after its appearance", readyMs, "ms"),
        exactly(0, "failures then, in 2,000 requests", count(load.exchanges, isFailure)),
        ...checkAlive(services),
      ];
    },
  },
  {
    group: "postgres",
    name: "wrong-password",
    cause: "the password of DATABASE_URL is wrong",
    expected: "exit code 1 within 5 s, one line",
    async run(stage) {
      const server = await stage.openPostgres();
      const url = new URL(server.url);
      url.password = "mistaken";
      const checks: Check[] = [];
      for (const { name, main } of apis) {
        const startMs = performance.now();
        await using program = startProgram({ main, environment: { DATABASE_URL: url.href, PORT: "0" } });
        stage.hear(program);
        const exitCode = await program.ended;
        checks.push(
          exactly(1, `${name}: exit code`, exitCode ?? Number.NaN),
          atMost(5_000, `${name}: ended after`, performance.now() - startMs, "ms"),
          exactly(
            1,
            `${name}: lines that name DATABASE_URL`,
            count(program.output, (line) => /DATABASE_URL/.test(line)),
          ),
          exactly(1, `${name}: lines`, program.output.length),
        );
      }
      return checks;
    },
  },
  {
    group: "postgres",
    name: "postgres-killed",
    cause: "PostgreSQL is stopped at once under load (pg_ctl stop -m immediate), and back 3 s later",
    expected:
      "503 + Retry-After within 1.1 s; first 2xx within 1 s of its return, no errors after 3 s; no process ends",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      const services = await stage.startCold(bothApis);
      await stage.warmUp();
      const load = await stage.load({ limits: roomy });
      await sleep(2_000);
      const goneAtMs = stage.mark();
      await server.kill();
      await sleep(3_000);
      const returnsAtMs = nowMs();
      await server.restart();
      const backAtMs = stage.mark();
      await sleep(5_000);
      await load.stop();
      return [
        exactly(
          0,
          "failures before",
          count(load.exchanges, (one) => isFailure(one) && endOf(one) < goneAtMs),
        ),
        ...checkFailures(load, acquireTimeoutMs + slackMs),
        atMost(1_000, "first 2xx after its return", firstGoodAfter(load, returnsAtMs) - backAtMs, "ms"),
        exactly(0, "failures later than 3 s after it", countFailuresAfter(load, backAtMs + 3_000)),
        ...checkAlive(services),
      ];
    },
  },
  {
    group: "postgres",
    name: "postgres-hung",
    cause: "SIGSTOP to every backend under load, SIGCONT 3 s later",
    expected: "503 at the statement limit; pool healthy within 1 s of SIGCONT",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      const services = await stage.startCold(bothApis);
      await stage.warmUp();
      const load = await stage.load({ limits: roomy });
      await sleep(2_000);
      stage.mark();
      await server.pauseBackends();
      await sleep(3_000);
      server.resumeBackends();
      const resumedAtMs = stage.mark();
      await sleep(4_000);
      await load.stop();
      return [
        // The server's own limit, should it be only slow, comes 100 ms before ours.
        ...checkFailures(load, writeTimeoutMs + 100 + slackMs),
        atMost(
          readTimeoutMs + 100 + slackMs,
          "slowest of the lists among them",
          Math.max(...load.exchanges.filter(isFailedList).map(({ durationMs }) => durationMs)),
          "ms",
        ),
        exactly(0, "failures later than 1 s after SIGCONT", countFailuresAfter(load, resumedAtMs + 1_000)),
        ...checkAlive(services),
      ];
    },
  },
  {
    group: "postgres",
    name: "terminated",
    cause: `pg_terminate_backend ${terminations.perSecond} times a second for ${terminations.seconds} s, under load`,
    expected: "0 crashes, failures <= terminations",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      const services = await stage.startCold(bothApis);
      await stage.warmUp();
      const load = await stage.load({ limits: roomy });
      stage.mark();
      const kills = terminations.perSecond * terminations.seconds;
      const startMs = performance.now();
      await server.terminateBackends(kills, terminations.perSecond);
      const seconds = (performance.now() - startMs) / 1_000;
      stage.mark();
      await load.stop();
      return [
        atLeast(terminations.seconds, `seconds that ${kills} terminations took`, seconds),
        atMost(kills, "failures", count(load.exchanges, isFailure)),
        exactly(
          0,
          "failures other than 503 with Retry-After",
          count(load.exchanges, (one) => isFailure(one) && !isCivil(one)),
        ),
        ...checkAlive(services),
      ];
    },
  },
];

function checkFailures(load: Load, withinMs: number): Check[] {
  const failures = load.exchanges.filter(isFailure);
  return [
    atLeast(1, "failures", failures.length),
    exactly(
      0,
      "of them not 503 with Retry-After",
      count(failures, (one) => !isCivil(one)),
    ),
    atMost(withinMs, "slowest of them", Math.max(...failures.map(({ durationMs }) => durationMs)), "ms"),
  ];
}

function isFailedList(one: Exchange): boolean {
  return isFailure(one) && one.asked === undefined;
}

/** Of requests that were sent after it. */
function countFailuresAfter({ exchanges }: Load, atMs: number): number {
  return count(exchanges, (one) => isFailure(one) && one.sentAtMs > atMs);
}

function firstGoodAfter({ exchanges }: Load, atMs: number): number {
  return Math.min(...exchanges.filter((one) => one.sentAtMs > atMs && isGood(one)).map(endOf));
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.text();
  return response.status;
}
