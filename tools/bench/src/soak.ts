import type { Benchmark, Measured, Measures } from "./benchmark.js";
import type { LoadedServer } from "./comparison.js";
import { post } from "./load/graphql-requests.js";
import { makeLoad } from "./load/load.js";
import { type HttpRequest, type Operation, withKey } from "./load/requests.js";
import type { WorkloadPart } from "./load/workload.js";
import { growthOf, mebibyte } from "./memory.js";
import { measureRounds } from "./rounds.js";
import { withEnvironment } from "./servers/environment.js";
import { petstoreGraphql, petstoreRest, type ServerProgram } from "./servers/server-programs.js";
import { addAccount, openMigratedCore } from "./servers/store.js";

const measures: Measures = {
  requests: { label: "requests", digits: 0 },
  rssGrownMebibytes: { label: "RSS MiB grown", digits: 1 },
  liveGrownBytes: { label: "live bytes grown per request", digits: 1 },
};

const programs = [petstoreRest, petstoreGraphql];
const connections = 16;
/** More unknown keys, or documents of this length, than a service remembers. */
const rememberedAtMost = 12_000;

/** Without the limits of addresses, which would refuse the unknown keys, and without shedding. */
const soakEnvironment = {
  ANONYMOUS_REQUESTS_PER_MINUTE: "1000000000",
  ANONYMOUS_REQUESTS_PER_DAY: "1000000000",
  SHED_EVENT_LOOP_DELAY_MS: "0",
};

/** The memory that a service keeps of a day's traffic, valid and invalid. */
export const soak: Benchmark = {
  name: "scalability-soak",
  summary: "what each request of a day's traffic, valid and invalid, adds to the live memory",
  measures,
  // The limit of the memory benchmark: 1 MiB in 100,000 requests.
  targets: programs.map(({ name: of }) => ({ measure: "liveGrownBytes", of, atMost: 11 })),
  defaults: { rounds: 1, seconds: 300, connections: [connections] },
  isFixed: true,
  run: (options, deps) =>
    withEnvironment(deps, async (environment) => {
      const store = await environment.openStore();
      await using core = await openMigratedCore(store.databaseUrl);
      const spentKey = await addAccount(core, 1);
      return await measureRounds(programs, { ...options, warmUp: false }, deps, async (program, turn) => {
        const { valid, remembered } = trafficOf(program, spentKey);
        await using server = await environment.openServer(program, store, { environment: soakEnvironment });
        const loaded = { ...server, parts: valid, apiKeys: store.apiKeys };
        return await measureSoak(loaded, remembered, turn.seconds, deps.signal);
      });
    }),
};

async function measureSoak(
  server: LoadedServer,
  remembered: readonly WorkloadPart[],
  seconds: number,
  signal: AbortSignal,
): Promise<Measured> {
  const load = (parts: readonly WorkloadPart[], requests: number) =>
    makeLoad({ ...server, parts, connections, seconds, signal, requests });
  // A service that has seen no valid key yet answers 503 to all keys while an address sends unknown ones.
  await load(server.parts, 1_000);
  // Fills the caches: from here on they do not grow.
  await load(remembered, rememberedAtMost * remembered.length);
  let requests = 0;
  const grown = await growthOf(server, async () => {
    ({ requests } = await load([...server.parts, ...remembered], Number.POSITIVE_INFINITY));
  });
  return { requests, rssGrownMebibytes: grown.rssBytes / mebibyte, liveGrownBytes: grown.liveBytes / requests };
}

/** A service remembers some of the requests for a while. */
function trafficOf({ requests, name }: ServerProgram, spentKey: string) {
  const { request } = requests.list(20);
  const part = (operation: Operation): WorkloadPart => ({ share: 1, operations: [operation] });
  const isRest = name === petstoreRest.name;
  return {
    valid: [
      requests.list(20),
      requests.list(20, "available"),
      requests.create,
      { request: withKey(request, spentKey), statuses: [200, 403, 429] },
      ...(isRest ? restOnly : graphqlOnly),
    ].map(part),
    remembered: [
      part({ request: withKey(request, "{newKey}"), statuses: [401, 503] }),
      ...(isRest ? [] : [part({ request: post({ query: "{ pets{unique}: pets(limit: 1) { id } }" }) })]),
    ],
  };
}

const restOnly: readonly Operation[] = [
  { request: get("/v1/pets/1") },
  { request: get("/v1/pets/9007199254740993"), statuses: [404] },
  { request: get("/v1/pets?limit=1000"), statuses: [400] },
  { request: get("/v1/dogs"), statuses: [404] },
];

const graphqlOnly: readonly Operation[] = [
  { request: post({ query: "{ petsConnection(first: 5) { edges { cursor node { id } } } }" }) },
  { request: post({ query: "{ pets(limit: 1000) { id } }" }) },
  { request: post({ query: "{ pets{unique}" }), statuses: [200, 400] },
];

function get(path: string): HttpRequest {
  return { method: "GET", path, headers: {} };
}
