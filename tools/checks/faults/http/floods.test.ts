import { setTimeout as sleep } from "node:timers/promises";
import { bytesOf, type HttpAnswer, nowMs, openRawClient } from "@petstore/harness/network";
import { hostileDocuments } from "@petstore/harness/responses";
import type { Figures } from "@petstore/harness/test-with-figures";
import { authorization, graphql, graphqlCall, host, mintUnknownKey, startOfCreate } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { median } from "../environment/measures.js";
import { count, endOf, isFailure, isSuccess, type Result, resultOf, slowestMs } from "../environment/results.js";
import { faultless, mebibytesOf, type Service, unthrottled } from "../environment/services.js";

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
  // During the second flood, and for a moment after it.
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
  const other = await environment.startLoad({ clients: 1, pauseMs: 20, targets: [service] });
  await sleep(500);
  const startedAtMs = nowMs();
  const answers = (await Promise.all(batches.map((bytes) => answersTo(service, bytes)))).flat();
  const endedAtMs = nowMs();
  await sleep(answeredWithinMs);
  await other.stop();
  const firstMs =
    Math.min(...other.results.filter((result) => isSuccess(result) && result.sentAtMs >= endedAtMs).map(endOf)) -
    endedAtMs;
  figures.atLeast(unknownKeyConnections, `${name}: answers to the flood of unknown keys`, answers.length);
  const during = other.results.filter((result) => endOf(result) >= startedAtMs && result.sentAtMs < endedAtMs);
  figures.atLeast(2, `${name}: requests of another client that are served during it`, count(during, isSuccess));
  figures.atMost(
    answeredWithinMs,
    `${name}: the slowest of another client during ${Math.round(endedAtMs - startedAtMs)} ms of it`,
    slowestMs(during),
    "ms",
  );
  figures.atMost(answeredWithinMs, `${name}: another client is served after it within`, firstMs, "ms");
}

const probeConnections = 990;
const probes = (count: number) =>
  `${`GET /livez HTTP/1.1\r\n${host}\r\n`.repeat(count - 1)}GET /livez HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
const longestWaitMs = 1_000;

it("probes-flood: 64 pipelined probes on each of 990 connections delay others by 1 s at most, in 256 MiB", async ({
  environment,
  figures,
}) => {
  // A busy machine may shed load for a moment.
  environment.allowFailures();
  const services = await environment.startServices(faultless);
  for (const service of services) {
    const { name } = service.api;
    /** The longest wait of another client while the connections send these bytes. */
    const longestWaitDuring = async (bytes: string) => {
      const other = await environment.startLoad({ clients: 1, pauseMs: 10, targets: [service] });
      await sleep(500);
      const startedAtMs = nowMs();
      const answers = await Promise.all(Array.from({ length: probeConnections }, () => answersTo(service, bytes)));
      await other.stop();
      figures.count(0, `${name}: connections without an answer`, answers, ({ length }) => length === 0);
      const isOdd = ({ status }: HttpAnswer) => status !== 200 && status !== 429;
      const hasNoLimit = ({ headers }: HttpAnswer) => headers["x-ratelimit-limit"] === undefined;
      figures.count(0, `${name}: answers to probes other than 200 and 429`, answers.flat(), isOdd);
      figures.count(0, `${name}: answers to probes without X-RateLimit headers`, answers.flat(), hasNoLimit);
      return slowestMs(other.results.filter((result) => endOf(result) >= startedAtMs));
    };
    const controlMs = await longestWaitDuring(probes(1));
    const limitMs = Math.max(longestWaitMs, slowdownAtMost * controlMs);
    figures.atMost(limitMs, `${name}: the longest wait of another client`, await longestWaitDuring(probes(64)), "ms");
    figures.atMost(memoryLimitMebibytes, `${name}: largest RSS`, await mebibytesOf(service, "VmHWM"), "MiB");
  }
});

const networks = 5_000;
/** `unknown-key-limiter.ts` allows this number of look-ups at once, and then this number per second. */
const lookUpsAtOnce = 200;
const lookUpsPerSecond = 50;

it("unknown-keys-of-many-networks: cause 50 queries a second, and no valid key gets 401", async ({
  environment,
  figures,
}) => {
  // New keys get 503 during the flood.
  environment.allowFailures();
  const services = await environment.startServices({ TRUST_PROXY: "127.0.0.1", ...faultless });
  for (const service of services) {
    const { name, list } = service.api;
    const customer = await environment.startLoad({ clients: 4, pauseMs: 10, targets: [service] });
    await sleep(500);
    const freshKeys = await Promise.all(Array.from({ length: 10 }, () => environment.issueKey()));
    // Made before the flood: to make the requests takes longer than to send them.
    const requests = Array.from({ length: networks }, (_, network) => {
      const address = `2001:db8:${(network >> 8).toString(16)}:${network & 255}::1`;
      return bytesOf(list, `${authorization(mintUnknownKey())}X-Forwarded-For: ${address}\r\n`);
    });
    const startedAtMs = nowMs();
    const flood = sendEach(service, requests);
    const fresh = await Promise.all(
      freshKeys.map((apiKey) => environment.sendBurst({ requests: 20, clients: 1, apiKey, targets: [service] })),
    );
    const answers = await flood;
    const seconds = (nowMs() - startedAtMs) / 1_000;
    await customer.stop();
    figures.exactly(networks, `${name}: answers to unknown keys`, answers.length);
    figures.count(
      0,
      `${name}: answers other than 401 and 503`,
      answers,
      ({ status }) => status !== 401 && status !== 503,
    );
    const lookUps = answers.filter(({ status }) => status === 401).length;
    figures.atMost(lookUpsAtOnce + lookUpsPerSecond * seconds, `${name}: look-ups of unknown keys`, lookUps);
    const wrong = ({ status }: Result) => status !== 200 && status !== 503;
    figures.count(0, `${name}: answers to new valid keys other than 200 and 503`, fresh.flat(), wrong);
    figures.count(0, `${name}: failures of a customer who was there before`, customer.results, isFailure);
  }
});

/** Sends the requests over 16 connections, each after the answer to the one before. */
async function sendEach({ port }: Service, requests: readonly string[]): Promise<readonly HttpAnswer[]> {
  const answers: HttpAnswer[] = [];
  const queue = [...requests];
  const sendUntilEmpty = async () => {
    using client = openRawClient(port);
    for (let bytes = queue.pop(); bytes !== undefined; bytes = queue.pop()) {
      client.write(bytes);
      await client.until(1, closedWithinMs);
      answers.push(...client.answers().splice(0));
    }
  };
  await Promise.all(Array.from({ length: 16 }, sendUntilEmpty));
  return answers;
}

const uploadMs = 5_000;
const uploadConnections = 8;
const chunkOf = (bytes: number) => `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`;

it("tiny-chunks: refused uploads in chunks of one byte slow others no more than long chunks", async ({
  environment,
  figures,
}) => {
  const services = await environment.startServices({ ...unthrottled, ...faultless });
  for (const service of services) {
    /** The median of another client while uploads without a key send these bytes, and others after they are closed. */
    const medianDuring = async (bytes: string) => {
      const other = await environment.startLoad({ clients: 1, pauseMs: 5, targets: [service] });
      const untilMs = nowMs() + uploadMs;
      const answers = (
        await Promise.all(Array.from({ length: uploadConnections }, () => upload(service, bytes, untilMs)))
      ).flat();
      await other.stop();
      figures.count(
        0,
        `${service.api.name}: answers to the uploads other than 401`,
        answers,
        ({ status }) => status !== 401,
      );
      return median(other.results.map(({ durationMs }) => durationMs));
    };
    const controlMs = await medianDuring(chunkOf(65_536).repeat(4));
    const measuredMs = await medianDuring(chunkOf(1).repeat(43_690));
    const what = `${service.api.name}: the p50 of another client, times the p50 during uploads in long chunks`;
    figures.atMost(slowdownAtMost, what, measuredMs / controlMs);
  }
});

/** Sends uploads of at most 4 MiB until this time. The bytes are a whole number of chunks. */
async function upload({ api, port }: Service, bytes: string, untilMs: number): Promise<readonly HttpAnswer[]> {
  const answers: HttpAnswer[] = [];
  while (nowMs() < untilMs) {
    using client = openRawClient(port);
    client.write(startOfCreate(api, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"));
    for (let sent = 0; sent < 4 * 1_048_576 && !client.isClosed(); sent += bytes.length) {
      await Promise.race([client.send(bytes), client.closed]);
    }
    await client.until(1);
    answers.push(...client.answers());
  }
  return answers;
}

/** The answers until the server closes the connection. */
async function answersTo({ port }: Service, bytes: string): Promise<readonly HttpAnswer[]> {
  using client = openRawClient(port);
  client.write(bytes);
  await client.until(Number.POSITIVE_INFINITY, closedWithinMs);
  return client.answers();
}
