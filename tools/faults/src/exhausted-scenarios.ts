import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./ask.js";
import { type Call, graphqlDoor, restDoor } from "./door.js";
import { atLeast, atMost, exactly } from "./measure.js";
import { bothDoors, checkAlive, count, isCivil } from "./postgres-away-scenarios.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { roomy, type Stage } from "./stage.js";

const poolSize = 6;
/** Until a connection that queries share is seen to be stalled, and takes no more of them. */
const stallMs = 500;
const acquireTimeoutMs = 400;
/** Longer than the row holds the connections. */
const statementTimeoutMs = 60_000;
const heldSeconds = 14;
/** From then on the service asks for a key again. */
const keyAgeMs = 6_000;
const rounds = 15;
const settings = {
  DATABASE_POOL_SIZE: `${poolSize}`,
  DATABASE_ACQUIRE_TIMEOUT_MS: `${acquireTimeoutMs}`,
  DATABASE_STATEMENT_TIMEOUT_MS: `${statementTimeoutMs}`,
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
  [restDoor.name]: [
    { status: 401, call: restDoor.list, by: "nobody" },
    { status: 404, call: { method: "GET", path: "/v1/none" }, by: "a roomy key" },
    { status: 405, call: { method: "DELETE", path: "/v1/pets" }, by: "a roomy key" },
    { status: 400, call: { method: "GET", path: "/v1/pets?limit=0" }, by: "a roomy key" },
    { status: 429, call: restDoor.list, by: "a key that is used up" },
  ],
  [graphqlDoor.name]: [
    { status: 401, call: graphqlDoor.list, by: "nobody" },
    { status: 405, call: { method: "DELETE", path: "/graphql" }, by: "a roomy key" },
    { status: 400, call: { method: "POST", path: "/graphql", headers: json, body: "{" }, by: "a roomy key" },
    { status: 429, call: graphqlDoor.list, by: "a key that is used up" },
  ],
};

export const exhaustedScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "pool-exhausted",
    cause: "every connection of both doors' pools is held by a statement that waits for a lock",
    expected: "503 at the acquisition limit; 401, 404, 405, 400 and 429 still within 20 ms",
    mayFail: true,
    async run(stage) {
      const server = await stage.openPostgres();
      const services = await stage.startCold(bothDoors, settings);
      await stage.warmUp();
      const { apiKey } = await stage.store.issueKey(roomy);
      const used = await Promise.all(services.map(() => stage.store.issueKey(small)));
      for (const [index, service] of services.entries()) {
        await askOften(stage, service, service.door.list, used[index]?.apiKey ?? "", small.perDay + 1);
        await askOften(stage, service, service.door.list, apiKey, 1);
      }
      const holding = server.query(
        `begin; lock table pets in access exclusive mode; select pg_sleep(${heldSeconds}); commit`,
      );
      await sleep(200);
      const stalled = services.flatMap((service) => Array.from({ length: poolSize }, () => hold(service, apiKey)));
      await sleep(stallMs);
      const held = services.flatMap((service) => Array.from({ length: poolSize }, () => hold(service, apiKey)));
      await sleep(keyAgeMs);
      const checks: Check[] = [];
      for (const [index, service] of services.entries()) {
        const { name, list } = service.door;
        const [refused] = await askOften(stage, service, list, apiKey, 1);
        if (refused === undefined) throw new Error("there is no answer");
        checks.push(
          exactly(1, `${name}: 503 with Retry-After`, count([refused], isCivil)),
          atLeast(acquireTimeoutMs - 10, `${name}: after at least`, refused.durationMs, "ms"),
          atMost(acquireTimeoutMs + 100, `${name}: after at most`, refused.durationMs, "ms"),
        );
        const keys = { nobody: "malformed", "a roomy key": apiKey, "a key that is used up": used[index]?.apiKey ?? "" };
        for (const { status, call, by } of questions[name] ?? []) {
          const answers = await askOften(stage, service, call, keys[by], rounds);
          const wrong = count(answers, (answer) => answer.status !== status);
          checks.push(
            exactly(0, `${name}: answers other than ${status}`, wrong),
            atMost(20, `${name}: ${status}, the median of ${rounds}`, median(answers), "ms"),
          );
        }
      }
      await Promise.all([holding, ...stalled, ...held]);
      return [...checks, ...checkAlive(services)];
    },
  },
];

/** One after the other. */
function askOften(stage: Stage, on: Service, call: Call, apiKey: string, requests: number): Promise<Answer[]> {
  return stage.burst({ requests, callers: 1, apiKey: () => apiKey, call: () => call }, [on]);
}

/** Part of the fault, so none of the oracles' requests. */
async function hold({ origin, door }: Service, apiKey: string): Promise<void> {
  const { path, method, body = null, headers } = door.list;
  const response = await fetch(`${origin}${path}`, {
    method,
    body,
    headers: { ...headers, authorization: `Bearer ${apiKey}` },
  });
  await response.text();
}

/** The machine is not ours alone: one answer may meet another program's turn. */
function median(answers: readonly Answer[]): number {
  const durations = answers.map(({ durationMs }) => durationMs).sort((left, right) => left - right);
  return durations[Math.floor(durations.length / 2)] ?? Number.NaN;
}
