import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "@petstore/harness/postgres";
import { bothApis, type Call, graphqlRouter, restRouter } from "./api.js";
import type { Answer } from "./ask.js";
import { isCivil } from "./exchange.js";
import { atLeast, atMost, checkAlive, count, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { roomy, type Stage } from "./stage.js";

const poolSize = 6;
/** Until a connection that queries share is seen to be stalled, and takes no more of them. */
const stallMs = 500;
const acquireTimeoutMs = 400;
/** Longer than the row holds the connections. */
const statementTimeoutMs = 60_000;
const heldSeconds = 22;
/** The cached key records are older than 5 s by then, so they need a look-up, and it fails. */
const keyAgeMs = 6_000;
const rounds = 15;
/** The machine is not ours alone: one answer of a round may meet another program's turn. */
const fastEnough = rounds - 1;
const fastMs = 20;
/** To each API, while its connections are held. */
const refusals = 5;
const settings = {
  DATABASE_POOL_SIZE: `${poolSize}`,
  DATABASE_ACQUIRE_TIMEOUT_MS: `${acquireTimeoutMs}`,
  DATABASE_READ_TIMEOUT_MS: `${statementTimeoutMs}`,
  DATABASE_WRITE_TIMEOUT_MS: `${statementTimeoutMs}`,
};
const small = { perMinute: 1_000_000_000, perDay: 3 };

/** What is answered without the database, and with which key. */
interface Question {
  readonly status: number;
  readonly call: Call;
  readonly by: "nobody" | "a roomy key" | "a key that is used up";
}

const json = { "content-type": "application/json" };
const questions: Readonly<Record<string, readonly Question[]>> = {
  [restRouter.name]: [
    { status: 401, call: restRouter.list, by: "nobody" },
    { status: 404, call: { method: "GET", path: "/v1/none" }, by: "a roomy key" },
    { status: 405, call: { method: "DELETE", path: "/v1/pets" }, by: "a roomy key" },
    { status: 400, call: { method: "GET", path: "/v1/pets?limit=0" }, by: "a roomy key" },
    { status: 429, call: restRouter.list, by: "a key that is used up" },
  ],
  [graphqlRouter.name]: [
    { status: 401, call: graphqlRouter.list, by: "nobody" },
    { status: 405, call: { method: "DELETE", path: "/graphql" }, by: "a roomy key" },
    { status: 400, call: { method: "POST", path: "/graphql", headers: json, body: "{" }, by: "a roomy key" },
    { status: 429, call: graphqlRouter.list, by: "a key that is used up" },
  ],
};

export const exhaustedScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "pool-exhausted",
    cause: "every connection of both APIs' pools is held by a statement that waits for a lock",
    expected: "503 within the acquisition limit; 401, 404, 405, 400 and 429 still within 20 ms",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      const services = await stage.startCold(bothApis, settings);
      await stage.warmUp();
      const { apiKey } = await stage.store.issueKey(roomy);
      // A different key: a look-up on a held connection is not answered until the row lock is released.
      const { apiKey: holdingKey } = await stage.store.issueKey(roomy);
      const used = await Promise.all(services.map(() => stage.store.issueKey(small)));
      for (const [index, service] of services.entries()) {
        await askOften(stage, service, service.api.list, used[index]?.apiKey ?? "", small.perDay + 1);
        await askOften(stage, service, service.api.list, apiKey, 1);
        await askOften(stage, service, service.api.list, holdingKey, 1);
      }
      const holding = server.query(
        `begin; lock table pets in access exclusive mode; select pg_sleep(${heldSeconds}); commit`,
      );
      while ((await countIn(server, locks)) === 0) await sleep(10);
      // Some share a connection until it is seen to be stalled; those after them take another one.
      const held: Promise<void>[] = [];
      for (let wave = 0; wave < 8 && (await countIn(server, waiting)) < services.length * poolSize; wave += 1) {
        held.push(...services.flatMap((service) => Array.from({ length: poolSize }, () => hold(service, holdingKey))));
        await sleep(stallMs);
      }
      await sleep(keyAgeMs);
      const checks = [exactly(services.length * poolSize, "connections held", await countIn(server, waiting))];
      for (const [index, service] of services.entries()) {
        const { name, list } = service.api;
        const refused = await askOften(stage, service, list, apiKey, refusals);
        checks.push(
          exactly(
            refusals,
            `${name}: 503 with Retry-After`,
            count(refused, ({ answer }) => isCivil(answer)),
          ),
          atMost(
            acquireTimeoutMs + 100,
            `${name}: after at most`,
            Math.max(...refused.map(({ ownMs }) => ownMs)),
            "ms",
          ),
        );
        const keys = { nobody: "malformed", "a roomy key": apiKey, "a key that is used up": used[index]?.apiKey ?? "" };
        for (const { status, call, by } of questions[name] ?? []) {
          const answers = await askOften(stage, service, call, keys[by], rounds);
          const wrong = count(answers, ({ answer }) => answer.status !== status);
          checks.push(
            exactly(0, `${name}: answers other than ${status}`, wrong),
            atLeast(
              fastEnough,
              `${name}: ${status} within ${fastMs} ms, of ${rounds}`,
              count(answers, ({ ownMs }) => ownMs <= fastMs),
            ),
          );
        }
      }
      await Promise.all([holding, ...held]);
      return [...checks, ...checkAlive(services)];
    },
  },
];

interface Timed {
  readonly answer: Answer;
  /** Without what the machine takes for any answer at that moment. */
  readonly ownMs: number;
}

/** One after the other. */
async function askOften(stage: Stage, on: Service, call: Call, apiKey: string, requests: number): Promise<Timed[]> {
  const timed: Timed[] = [];
  while (timed.length < requests) {
    const asking = stage.burst({ requests: 1, callers: 1, apiKey: () => apiKey, call: () => call }, [on]);
    const [[answer], machineMs] = await Promise.all([asking, stage.machineMs()]);
    if (answer !== undefined) timed.push({ answer, ownMs: answer.durationMs - machineMs });
  }
  return timed;
}

const locks = "pg_locks where relation = 'pets'::regclass and mode = 'AccessExclusiveLock' and granted";
const waiting = "pg_stat_activity where wait_event_type = 'Lock' and application_name = 'petstore'";

async function countIn(server: PostgresServer, rows: string): Promise<number> {
  const [row] = await server.query(`select count(*)::int as count from ${rows}`);
  return Number(row?.count);
}

/** Part of the fault, so none of the oracles' requests. */
async function hold({ origin, api }: Service, apiKey: string): Promise<void> {
  const { path, method, body = null, headers } = api.list;
  const response = await fetch(`${origin}${path}`, {
    method,
    body,
    headers: { ...headers, authorization: `Bearer ${apiKey}` },
  });
  await response.text();
}
