import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { dearDocuments, type Hostile, hostileDocuments, hostileVariables } from "@petstore/harness/responses";
import type { Figures } from "@petstore/harness/test-with-figures";
import { getIntrospectionQuery } from "graphql";
import { graphql, graphqlCall } from "../environment/apis.js";
import { addLargestPets, documentsToRead } from "../environment/dearest.js";
import { type Environment, it } from "../environment/environment.js";
import { startLoad } from "../environment/load.js";
import { checkPrices } from "../environment/price.js";
import { watchReadiness } from "../environment/readiness.js";
import { count, isFailure, type Result, slowestMs } from "../environment/results.js";
import { mebibytesOf, type Service, unthrottled } from "../environment/services.js";

/** Limited by the day, whose window does not end during the test. */
const limits = { perMinute: 10_000_000, perDay: 1_000_000 };

async function openService(environment: Environment, warmUp: readonly Hostile[]) {
  // Before the service starts: its warm-up creates pets too.
  await environment.database.execute(addLargestPets);
  const service = await environment.startService(unthrottled, { api: graphql, isProbed: true });
  const apiKey = await environment.issueKey(limits);
  // The compiler must have seen every part of the documents.
  for (const { write } of warmUp) {
    const call = (_api: unknown, index: number) => graphqlCall(write(`${index}`));
    await environment.sendBurst({ requests: 4, clients: 1, apiKey, call });
  }
  return { service, apiKey };
}

const introspection: Hostile = {
  name: "the introspection of tools",
  write: (mark) => JSON.stringify({ query: `#${mark}\n${getIntrospectionQuery({ oneOf: true })}` }),
};

it("document-costs: a unit buys at most 40 times the work of a 401", async ({ environment, figures }) => {
  // Before the service starts: its warm-up creates pets too.
  await environment.database.execute(addLargestPets);
  const service = await environment.startService(unthrottled, { api: graphql, isProbed: true });
  const hostile = [introspection, ...hostileDocuments, ...hostileVariables, ...dearDocuments];
  const calls = hostile.map(({ name, write }) => ({
    name,
    call: (index: number) => graphqlCall(write(`${name} ${index}`)),
  }));
  await checkPrices(environment, figures, service, calls);
});

const waitsAtMost = { ms: 1_000, controls: 3 };
const memoryLimitMebibytes = 256;
const cheap: Hostile = { name: "{__typename}", write: (mark) => JSON.stringify({ query: `{__typename}#${mark}` }) };
it.for([60, 300])(
  "document-bursts: %i of the dearest documents at one moment let others wait for 1 s at most",
  async (requests, { environment, figures }) => {
    const { service, apiKey } = await openService(environment, documentsToRead);
    const burst = { environment, figures, service, apiKey, requests };
    const documentOf = ({ name, write }: Hostile) => ({
      name,
      write: (index: number) => write(`${name} ${requests} ${index}`),
    });
    const atMostMs = await longestWaitAllowedMs(burst);
    for (const document of documentsToRead) {
      const what = `${requests} times ${document.name}: the longest wait of another client`;
      figures.atMost(atMostMs, what, await longestWaitMs(burst, documentOf(document)), "ms");
    }
    figures.atMost(memoryLimitMebibytes, "largest RSS", await mebibytesOf(service, "VmHWM"), "MiB");
  },
);

/** The dearest to execute of one unit, and of ten. */
const largestAnswers = [
  ["a connection of 100 pets, with everything in it, and its edges 0 times more", 300],
  ["10 connections of 100 pets, with everything in them", 30],
] as const;

it.for(largestAnswers)(
  "answer-bursts: %s, %i times at one moment, in a document that is kept, let others wait for 1 s at most",
  async ([name, requests], { environment, figures }) => {
    const documents = dearDocuments.filter((document) => document.name === name);
    const { service, apiKey } = await openService(environment, documents);
    const burst = { environment, figures, service, apiKey, requests };
    const atMostMs = await longestWaitAllowedMs(burst);
    figures.exactly(1, "dear documents", documents.length);
    for (const { write } of documents) {
      const waitMs = await longestWaitMs(burst, { name, write: () => write("kept") });
      figures.atMost(atMostMs, "the longest wait of another client", waitMs, "ms");
    }
    figures.atMost(memoryLimitMebibytes, "largest RSS", await mebibytesOf(service, "VmHWM"), "MiB");
  },
);

interface Burst {
  readonly environment: Environment;
  readonly figures: Figures;
  readonly service: Service;
  readonly apiKey: string;
  readonly requests: number;
}

/** 1 s or, on a busy machine, three times the wait beside as many cheap documents. */
async function longestWaitAllowedMs(burst: Burst): Promise<number> {
  const write = (index: number) => cheap.write(`${burst.requests} ${index}`);
  const controlMs = await longestWaitMs(burst, { name: cheap.name, write });
  return Math.max(waitsAtMost.ms, waitsAtMost.controls * controlMs);
}

/** How long another client waits at most while all requests are sent at one moment. */
async function longestWaitMs(
  { environment, figures, service, apiKey, requests }: Burst,
  { name, write }: { readonly name: string; readonly write: (index: number) => string },
): Promise<number> {
  const other = await environment.startLoad({ clients: 1, pauseMs: 5, targets: [service], call: ({ list }) => list });
  const readiness = watchReadiness([service]);
  await sleep(200);
  const call = (_api: unknown, index: number) => graphqlCall(write(index));
  // Not a load of the environment: its requests wait for each other, perhaps longer than the oracles allow.
  const burst = startLoad({ targets: [service], requests, clients: requests, pauseMs: 0, apiKey, call });
  await burst.done;
  await other.stop();
  figures.exactly(requests, `${name}: answers`, burst.results.length);
  const isDone = ({ status }: Result) => status === 200 || status === 400;
  figures.atLeast(requests / 2, `${name}: executed or refused documents`, count(burst.results, isDone));
  // Beyond 20 MiB, pages of one account do not wait.
  const isOther = (result: Result) => !isDone(result) && result.code !== "SERVICE_UNAVAILABLE";
  figures.count(0, `${name}: other answers than these and SERVICE_UNAVAILABLE`, burst.results, isOther);
  figures.count(0, `${name}: failures of another client`, other.results, isFailure);
  figures.exactly(0, `${name}: answers of /readyz other than 200`, await readiness.stop());
  return slowestMs(other.results);
}

const persistedQueries = Array.from({ length: 40 }, (_, index) => `{pets(limit:${index + 1}){id}}`);

it("document-cache: one key displaces no persisted query of another customer", async ({ environment, figures }) => {
  const service = await environment.startService(unthrottled, { api: graphql });
  const [customerKey, floodKey] = [await environment.issueKey(), await environment.issueKey()];
  const hashOf = (query: string) => ({ persistedQuery: { version: 1, sha256Hash: hash("sha256", query, "hex") } });
  const send = (apiKey: string, requests: readonly object[]) =>
    environment.sendBurst({
      apiKey,
      clients: 4,
      targets: [service],
      requests: requests.length,
      call: (_api, index) => graphqlCall(JSON.stringify(requests[index])),
    });
  const commented = Array.from({ length: 400 }, (_, index) => `{__typename}#${index}${"#".repeat(30_000)}`);

  await send(
    customerKey,
    persistedQueries.map((query) => ({ query, extensions: hashOf(query) })),
  );
  for (const flood of [
    commented.map((query) => ({ query })),
    commented.map((query) => ({ query })),
    commented.map((query) => ({ query, extensions: hashOf(query) })),
  ]) {
    await send(floodKey, flood);
    const answers = await send(
      customerKey,
      persistedQueries.map((query) => ({ extensions: hashOf(query) })),
    );
    figures.exactly(persistedQueries.length, "answers to the customer", answers.length);
    figures.count(0, "persisted queries of the customer that are not found", answers, ({ text }) =>
      text.includes("PERSISTED_QUERY_NOT_FOUND"),
    );
  }
});
