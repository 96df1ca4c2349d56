import { randomBytes } from "node:crypto";
import { mintUnknownKey } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { count, isFailure, isUnavailable } from "../environment/results.js";
import { largestMebibytes, unthrottled } from "../environment/services.js";
import { until } from "../environment/waits.js";

const garbageKeys = 1_000_000;
const unknownKeys = 100_000;
const keyFreshMs = 4_000;
/** A few clients with many requests in flight need less work than many clients. */
const flood = { clients: 16, inFlight: 16 };
const keyTable = "api_keys";
/** Except idempotency_keys, because a timer deletes its old rows every minute. */
const anyTable = "(api_keys|accounts|pets)";

it("garbage-keys: refuses 1,000,000 malformed keys without a database query", async ({ environment, figures }) => {
  const { executed, services } = await startCounting(environment);
  const before = await executed(anyTable);
  const answers = await environment.sendBurst({ ...flood, requests: garbageKeys, apiKey: garbageKey });
  const queries = (await executed(anyTable)) - before;
  figures.count(garbageKeys, "answers of 401", answers, ({ status }) => status === 401);
  figures.exactly(0, "queries of our tables", queries);
  figures.atMost(400, "memory of the larger process", await largestMebibytes(services), "MiB");
});

it("unknown-key-flood: bounds the queries, and always serves a valid key", async ({ environment, figures }) => {
  environment.allowFailures();
  const { executed, services } = await startCounting(environment);
  const valid = await environment.startLoad({ clients: 4, pauseMs: 20 });
  await until(() => valid.results.length >= 20);
  const before = await executed(keyTable);
  const mebibytesBefore = await largestMebibytes(services);
  const startMs = performance.now();
  const answers = await environment.sendBurst({ ...flood, requests: unknownKeys, apiKey: mintUnknownKey });
  const seconds = (performance.now() - startMs) / 1_000;
  const queries = (await executed(keyTable)) - before;
  const grownMebibytes = (await largestMebibytes(services)) - mebibytesBefore;
  await valid.stop();
  // Each process allows an address 10 look-ups and 5 more each second, and renews the valid key.
  const lookUps = services.length * (10 + Math.ceil(5 * seconds));
  const renewals = services.length * (1 + Math.ceil(seconds / (keyFreshMs / 1_000)));
  const others = count(answers, (answer) => answer.status !== 401 && !isUnavailable(answer));
  const unavailable = count(answers, ({ status }) => status === 503);
  figures.exactly(0, "answers other than 401, and 503 with Retry-After", others);
  figures.atLeast(unknownKeys - lookUps, "answers of 503", unavailable);
  figures.atMost(
    lookUps + renewals,
    `key queries in ${Math.round(seconds)} s, with renewals of the valid key`,
    queries,
  );
  figures.atMost(100, "memory that the larger process has grown by", grownMebibytes, "MiB");
  figures.atLeast(20, "requests with the valid key", valid.results.length);
  figures.count(0, "failures of requests with the valid key", valid.results, isFailure);
  environment.checkAlive();
});

async function startCounting(environment: Environment) {
  const server = await environment.openPostgres();
  const executed = await server.countStatements();
  const services = await environment.startServices(unthrottled);
  await environment.warmUp();
  return { executed, services };
}

/** Half of them have the form of a key and a wrong checksum. The others are random characters. */
function garbageKey(request: number): string {
  return request % 2 === 0 ? mintUnknownKey().replace(/_\w{6}$/, "_000000") : randomBytes(30).toString("base64url");
}
