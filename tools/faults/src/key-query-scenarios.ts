import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { bothDoors, type Call, type Door, restDoor } from "./door.js";
import { unthrottled } from "./environment.js";
import { atLeast, atMost, count, exactly } from "./measure.js";
import { largestMebibytes } from "./resident-memory.js";
import type { Scenario } from "./scenario.js";
import { roomy, withinOneMinute } from "./stage.js";
import { countStatements, openCounting } from "./statement-count.js";

const garbageKeys = 1_000_000;
const unknownKeys = 100_000;
const coldRequests = 10_000;
const keyFreshMs = 4_000;
const addressLimit = 300;
const callers = 64;
/** Of few callers, each with many requests under way: more at once, at less work for everyone. */
const crowd = { callers: 16, ahead: 16 };
const usual = { ANONYMOUS_REQUESTS_PER_MINUTE: `${addressLimit}` };

export const keyQueryScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "garbage-keys",
    cause: `${garbageKeys} requests, each with a key that is none`,
    expected: "0 database queries",
    async run(stage) {
      const server = await openCounting(stage);
      const services = await stage.startCold(bothDoors, unthrottled);
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
    name: "unknown-keys",
    cause: `${unknownKeys} well-formed keys that nobody has, each sent twice; then ${2 * addressLimit} from an address that may ask ${addressLimit} times`,
    expected: "at most one query each, bounded memory, throttled by address",
    async run(stage) {
      const server = await openCounting(stage);
      const services = [...(await stage.startCold(bothDoors, unthrottled))];
      await stage.warmUp();
      const before = await countStatements(server, keyTable);
      const mebibytesBefore = await largestMebibytes(services);
      const answers = await Promise.all(
        services.map((service) => {
          const keys = Array.from({ length: unknownKeys / services.length }, unknownKey);
          const asking = { ...crowd, requests: 2 * keys.length, apiKey: (request: number) => keys[request >> 1] ?? "" };
          return stage.burst({ ...asking, call: ({ list }) => list }, [service]);
        }),
      );
      const queries = (await countStatements(server, keyTable)) - before;
      const grownMebibytes = (await largestMebibytes(services)) - mebibytesBefore;
      const throttled = await stage.startCold([{}], usual);
      await withinOneMinute(5_000);
      const requests = 2 * addressLimit;
      const further = await stage.burst({ requests, callers, apiKey: unknownKey, call: ({ list }) => list }, throttled);
      return [
        exactly(
          2 * unknownKeys,
          "answered 401",
          count(answers.flat(), ({ status }) => status === 401),
        ),
        atMost(unknownKeys, "key queries", queries),
        atMost(150, "memory that the larger process has grown by", grownMebibytes, "MiB"),
        exactly(
          addressLimit,
          `answered 401, of ${requests} of one address`,
          count(further, ({ status }) => status === 401),
        ),
        exactly(
          addressLimit,
          "answered 429",
          count(further, ({ status }) => status === 429),
        ),
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
      const services = await stage.startCold(bothDoors);
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

function mistaken({ name }: Door): Call {
  return name === restDoor.name
    ? { method: "GET", path: "/v1/pets?limit=0" }
    : { method: "POST", path: "/graphql", headers: { "content-type": "application/json" }, body: "{" };
}
