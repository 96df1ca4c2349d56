import { setTimeout as sleep } from "node:timers/promises";
import { bytesOf, type HttpAnswer, nowMs, openRawClient } from "@petstore/harness/network";
import { hostileDocuments } from "@petstore/harness/responses";
import type { Figures } from "@petstore/harness/test-with-figures";
import { authorization, graphql, graphqlCall, mintUnknownKey } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { median } from "../environment/measures.js";
import { endOf, isFailure, isSuccess, resultOf, slowestMs } from "../environment/results.js";
import { mebibytesOf, type Service } from "../environment/services.js";

const slowdownAtMost = 3;
const cheapBody = JSON.stringify({ query: "{__typename}" });
/** The first refusal bans the key, for an hour. */
const bansAtOnce = { BAN_STRIKES: "1", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0", BAN_FIRST_MS: "3600000" };
const expensive = hostileDocuments.filter(({ name }) =>
  ["99 duplicate connections", "fragments in a circle", "300 unknown fields"].includes(name),
);

it("banned-key-flood: expensive documents slow others no more than cheap ones", async ({ environment, figures }) => {
  const service = await environment.startService(bansAtOnce, { api: graphql });
  const bannedKey = await environment.issueKey({ perMinute: 1, perDay: 1_000_000 });
  const flood = (body: string) =>
    environment.sendBurst({ requests: 20_000, clients: 64, apiKey: bannedKey, call: () => graphqlCall(body) });
  /** The median of another customer's requests during the flood. */
  const medianUnder = async (body: string) => {
    const customer = await environment.startLoad({ clients: 1, pauseMs: 0, targets: [service] });
    const answers = await flood(body);
    await customer.stop();
    figures.count(0, "answers to the banned key other than 429", answers, ({ status }) => status !== 429);
    return median(customer.results.map(({ durationMs }) => durationMs));
  };

  // The key is banned from here on.
  await flood(cheapBody);
  const cheapMs = await medianUnder(cheapBody);
  figures.exactly(3, "expensive documents", expensive.length);
  for (const { name, write } of expensive) {
    const what = `${name}: the customer's p50, times the p50 under cheap documents`;
    figures.atMost(slowdownAtMost, what, (await medianUnder(write(""))) / cheapMs);
  }
});

const unitsLeft = 9;
const extensionFloodMs = 5_000;
const tenUnits = Array.from(
  { length: 10 },
  (_, n) => `a${n}:petsConnection(first:1){edges{cursor node{...f}}nodes{...f}pageInfo{hasNextPage endCursor}}`,
);

it("refused-extensions: has no more documents parsed than an account has units left", async ({
  environment,
  figures,
}) => {
  const service = await environment.startService({}, { api: graphql });
  let documents = 0;
  /** A new document each time, so that no cache has it. */
  const dearCall = () => {
    documents += 1;
    return graphqlCall(
      JSON.stringify({ query: `#${documents}\n{${tenUnits.join(" ")}}fragment f on Pet{id name categoryId status}` }),
    );
  };
  /** Floods with documents of 10 units. The limit is that of the day, whose window does not end during the flood. */
  const flood = async (perDay: number, spent: number) => {
    const apiKey = await environment.issueKey({ perMinute: 10_000_000, perDay });
    await environment.sendBurst({ requests: spent, clients: 1, apiKey });
    const customer = await environment.startLoad({ clients: 1, pauseMs: 0, targets: [service] });
    const attack = await environment.startLoad({ clients: 9, pauseMs: 0, targets: [service], apiKey, call: dearCall });
    await sleep(extensionFloodMs);
    await Promise.all([attack.stop(), customer.stop()]);
    return { attack: attack.results, customerMs: median(customer.results.map(({ durationMs }) => durationMs)) };
  };

  const control = await flood(20, 20);
  for (const [what, perDay, spent] of [
    ["fewer units left than the cost", 20, 20 - unitsLeft],
    ["a limit below the cost", unitsLeft, 0],
  ] as const) {
    const { attack, customerMs } = await flood(perDay, spent);
    figures.count(0, `${what}: executed documents`, attack, ({ status }) => status === 200);
    // A request is admitted and parsed before it is refused, unless no unit is left. The last parsed one shows 0 units left.
    const parsed = attack.filter(({ status, rateLimit }) => status !== 429 || rateLimit.remaining > 0);
    figures.atMost(unitsLeft, `${what}: parsed documents of ${attack.length}`, parsed.length);
    figures.atMost(slowdownAtMost, `${what}: the customer's p50, times the control`, customerMs / control.customerMs);
  }
});

const connections = 60;
const tinyRequests = "GET /a HTTP/1.1\r\nHost:\r\n\r\n".repeat(2_500);
const memoryLimitMebibytes = 256;
const answeredWithinMs = 2_000;
/** The client opens closed connections again during this time. */
const floodMs = 5_000;
/** A connection that is slower counts as not closed. */
const closedWithinMs = 30_000;
/** One address may have this number of connections, and each of them 64 outstanding requests. */
const unknownKeyConnections = 1_000;
const maxOutstanding = 64;
/** 64,000 outstanding requests do not fit in this heap. */
const smallHeap = { NODE_OPTIONS: `--max-old-space-size=${memoryLimitMebibytes}` };

it("pipelining-flood: serves another client within 2 s, in 256 MiB", async ({ environment, figures }) => {
  // For a moment after the second flood.
  environment.allowFailures();
  const services = await environment.startServices(smallHeap);
  for (const service of services) {
    const { name } = service.api;
    await floodWithoutKey(environment, figures, service);
    await floodWithUnknownKeys(environment, figures, service);
    figures.atMost(memoryLimitMebibytes, `${name}: largest RSS`, await mebibytesOf(service, "VmHWM"), "MiB");
  }
});

async function floodWithoutKey(environment: Environment, figures: Figures, service: Service): Promise<void> {
  const { name } = service.api;
  const other = await environment.startLoad({ clients: 1, pauseMs: 20, targets: [service] });
  await sleep(1_000);
  const startedAtMs = nowMs();
  const attackers = Array.from({ length: connections }, async () => {
    while (nowMs() < startedAtMs + floodMs) {
      environment.keep((await answersTo(service, tinyRequests)).map(resultOf));
    }
  });
  await Promise.all(attackers);
  await other.stop();
  const during = other.results.filter((result) => endOf(result) >= startedAtMs);
  figures.atLeast(2, `${name}: requests of another client during the flood`, during.length);
  figures.count(0, `${name}: failures of the other client`, during, isFailure);
  figures.atMost(answeredWithinMs, `${name}: the slowest of the other client`, slowestMs(during), "ms");
}

async function floodWithUnknownKeys(environment: Environment, figures: Figures, service: Service): Promise<void> {
  const { name, list } = service.api;
  // Made before the flood: to make the requests takes longer than to send them.
  const batches = Array.from({ length: unknownKeyConnections }, () =>
    Array.from({ length: maxOutstanding }, (_, index) => {
      const close = index === maxOutstanding - 1 ? "Connection: close\r\n" : "";
      return bytesOf(list, authorization(mintUnknownKey()) + close);
    }).join(""),
  );
  const answers = (await Promise.all(batches.map((bytes) => answersTo(service, bytes)))).flat();
  const endedAtMs = nowMs();
  const other = await environment.startLoad({ clients: 1, pauseMs: 20, targets: [service] });
  await sleep(answeredWithinMs);
  await other.stop();
  const firstMs = Math.min(...other.results.filter(isSuccess).map(endOf)) - endedAtMs;
  figures.atLeast(unknownKeyConnections, `${name}: answers to the flood of unknown keys`, answers.length);
  figures.atMost(answeredWithinMs, `${name}: another client is served after it within`, firstMs, "ms");
}

/** The answers until the server closes the connection. */
async function answersTo({ port }: Service, bytes: string): Promise<readonly HttpAnswer[]> {
  using client = openRawClient(port);
  client.write(bytes);
  await client.until(Number.POSITIVE_INFINITY, closedWithinMs);
  return client.answers();
}
