import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { mintApiKey } from "@petstore/core";
import { type Api, bothApis, type Call, restRouter } from "./api.js";
import { unthrottled } from "./environment.js";
import { isCivil, isFailure } from "./exchange.js";
import { atLeast, atMost, checkAlive, count, exactly } from "./measure.js";
import { largestMebibytes } from "./resident-memory.js";
import type { Scenario } from "./scenario.js";
import { roomy } from "./stage.js";
import { countStatements, openCounting } from "./statement-count.js";

const garbageKeys = 1_000_000;
const unknownKeys = 100_000;
const coldRequests = 10_000;
const keyFreshMs = 4_000;
const callers = 64;
/** Of few callers, each with many requests under way: more at once, at less work for everyone. */
const crowd = { callers: 16, ahead: 16 };

export const keyQueryScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "garbage-keys",
    cause: `${garbageKeys} requests, each with a key that is none`,
    expected: "0 database queries",
    async run(stage) {
      const server = await openCounting(stage);
      const services = await stage.startCold(bothApis, unthrottled);
      await stage.warmUp();
      const before = await countStatements(server, anyTable);
      const answers = await stage.burst({ ...crowd, requests: garbageKeys, apiKey: garbage, call: ({ list }) => list });
      const queries = (await countStatements(server, anyTable)) - before;
      return [
        exactly(
          garbageKeys,
          "answered 401",
          count(answers, ({ status }) => status === 401),
        ),
        exactly(0, "queries of a table of ours", queries),
        atMost(400, "memory of the larger process", await largestMebibytes(services), "MiB"),
      ];
    },
  },
  {
    group: "postgres",
    name: "unknown-key-flood",
    cause: `${unknownKeys} well-formed keys that nobody has, from an address that also uses a valid key`,
    expected: "10 queries and 5 more a second, the rest 503; bounded memory; the valid key is always served",
    mayFail: true,
    async run(stage) {
      const server = await openCounting(stage);
      const services = await stage.startCold(bothApis, unthrottled);
      await stage.warmUp();
      const valid = await stage.load({ limits: roomy, callers: 4, pauseMs: 20 });
      while (valid.exchanges.length < 20) await sleep(20);
      const before = await countStatements(server, keyTable);
      const mebibytesBefore = await largestMebibytes(services);
      const startMs = performance.now();
      const answers = await stage.burst({
        ...crowd,
        requests: unknownKeys,
        apiKey: unknownKey,
        call: ({ list }) => list,
      });
      const seconds = (performance.now() - startMs) / 1_000;
      const queries = (await countStatements(server, keyTable)) - before;
      const grownMebibytes = (await largestMebibytes(services)) - mebibytesBefore;
      await valid.stop();
      const looks = services.length * (10 + Math.ceil(5 * seconds));
      const renewals = services.length * (1 + Math.ceil(seconds / (keyFreshMs / 1_000)));
      return [
        exactly(
          0,
          "answers other than 401, and 503 with Retry-After",
          count(answers, (answer) => answer.status !== 401 && !isCivil(answer)),
        ),
        atLeast(
          unknownKeys - looks,
          "answers 503",
          count(answers, ({ status }) => status === 503),
        ),
        atMost(looks + renewals, `key queries in ${Math.round(seconds)} s, with renewals of the valid key`, queries),
        atMost(100, "memory that the larger process has grown by", grownMebibytes, "MiB"),
        atLeast(20, "requests with the valid key", valid.exchanges.length),
        exactly(0, "of them not served", count(valid.exchanges, isFailure)),
        ...checkAlive(services),
      ];
    },
  },
  {
    group: "postgres",
    name: "cold-cache",
    cause: `${coldRequests} requests with one key, ${callers} at once, to processes that have never seen it`,
    expected: "1 key query for each process",
    async run(stage) {
      const server = await openCounting(stage);
      const services = await stage.startCold(bothApis);
      await stage.warmUp();
      const { apiKey } = await stage.store.issueKey(roomy);
      const before = await countStatements(server, keyTable);
      const startMs = performance.now();
      // Answered 400, as soon as the key is known: a list would take longer than a key stays fresh.
      const answers = await stage.burst({ requests: coldRequests, callers, apiKey: () => apiKey, call: mistaken });
      const renewals = Math.floor((performance.now() - startMs) / keyFreshMs);
      const queries = (await countStatements(server, keyTable)) - before;
      return [
        exactly(
          coldRequests,
          "answered 400",
          count(answers, ({ status }) => status === 400),
        ),
        atMost(
          services.length * (1 + renewals),
          `key queries of ${services.length} processes, with ${renewals} renewals each`,
          queries,
        ),
        atLeast(services.length, "of them at least", queries),
      ];
    },
  },
];

const keyTable = "api_keys";
/** But for idempotency_keys: its old rows are swept away every minute, whoever asks for what. */
const anyTable = "(api_keys|accounts|pets)";

function unknownKey(): string {
  return mintApiKey("test", randomBytes);
}

/** Something like a key, with a checksum that is wrong, and something that is nothing like one. */
function garbage(request: number): string {
  return request % 2 === 0 ? unknownKey().replace(/_\w{6}$/, "_000000") : randomBytes(30).toString("base64url");
}

function mistaken({ name }: Api): Call {
  return name === restRouter.name
    ? { method: "GET", path: "/v1/pets?limit=0" }
    : { method: "POST", path: "/graphql", headers: { "content-type": "application/json" }, body: "{" };
}
