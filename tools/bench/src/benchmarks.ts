import type { Benchmark } from "./benchmark.js";
import { compareServers } from "./comparison.js";
import { browse, cold, creates, hotPage, plainCreates } from "./load/workload.js";
import { memory } from "./memory.js";
import { compareEngines } from "./quota/quota.js";
import {
  bareApollo,
  bareExpress,
  expressFlexible,
  fastifyRateLimit,
  graphqlCeiling,
  mercurius,
  mercuriusJit,
  petstoreGraphql,
  petstoreRest,
  postgraphile,
  restCeiling,
} from "./servers/server-programs.js";
import { start } from "./start.js";
import { statements } from "./statements.js";

const rest = { ours: petstoreRest, peers: [bareExpress, expressFlexible, fastifyRateLimit, restCeiling] };
const graphql = { ours: petstoreGraphql, peers: [bareApollo, postgraphile, mercurius, mercuriusJit, graphqlCeiling] };

/** Every benchmark, in the order of a run. The headline comes first: it resembles real traffic. */
export const benchmarks: readonly Benchmark[] = [
  compareServers({
    name: "rest-browse",
    workload: browse,
    ...rest,
    connections: [32, 1, 512],
    targets: [
      { connections: 32, measure: "CPU us/request", against: bareExpress, atMost: 0.45 },
      { connections: 32, measure: "CPU us/request", against: fastifyRateLimit, atMost: 0.7 },
      { connections: 32, measure: "CPU us/request", against: restCeiling, atMost: 1 },
      { connections: 1, measure: "CPU us/request", against: bareExpress, atMost: 0.95 },
      { connections: 1, measure: "p50 ms", against: expressFlexible, atMost: 0.7 },
      { connections: 512, measure: "p99 ms", against: bareExpress, atMost: 0.6 },
    ],
  }),
  compareServers({
    name: "graphql-browse",
    workload: browse,
    ...graphql,
    connections: [32, 1, 512],
    targets: [
      { connections: 32, measure: "CPU us/request", against: bareApollo, atMost: 0.5 },
      { connections: 32, measure: "CPU us/request", against: postgraphile, atMost: 0.6 },
      { connections: 1, measure: "CPU us/request", against: bareApollo, atMost: 0.95 },
      { connections: 512, measure: "p99 ms", against: bareApollo, atMost: 0.6 },
    ],
  }),
  compareServers({
    name: "rest-cold",
    workload: cold,
    ours: petstoreRest,
    peers: [bareExpress],
    connections: [32, 1],
    targets: [
      { connections: 32, measure: "CPU us/request", against: bareExpress, atMost: 0.7 },
      { connections: 1, measure: "CPU us/request", against: bareExpress, atMost: 1.3 },
    ],
  }),
  compareServers({
    name: "rest-create",
    workload: creates,
    ours: petstoreRest,
    peers: [bareExpress],
    connections: [32, 1],
    targets: [
      { connections: 32, measure: "CPU us/request", against: bareExpress, atMost: 0.7 },
      { connections: 1, measure: "CPU us/request", against: bareExpress, atMost: 1.5 },
    ],
  }),
  compareServers({
    name: "graphql-create",
    workload: creates,
    ours: petstoreGraphql,
    peers: [bareApollo],
    connections: [32, 1],
  }),
  compareServers({
    name: "rest-plain-create",
    workload: plainCreates,
    ours: petstoreRest,
    peers: [bareExpress],
    connections: [32, 1],
  }),
  compareServers({ name: "rest-hot-page", workload: hotPage, ...rest, connections: [32] }),
  compareServers({ name: "graphql-hot-page", workload: hotPage, ...graphql, connections: [32] }),
  statements,
  memory,
  compareEngines({
    name: "quota",
    summary: "decide about a minute and a day, for 10,000 accounts",
    accounts: 10_000,
    atLeast: 1.3,
  }),
  compareEngines({ name: "quota-hot-account", summary: "the same for one account", accounts: 1, atLeast: 1.6 }),
  start,
];
