import type { Benchmark } from "./benchmark.js";
import { compareServers } from "./comparison.js";
import { creates, hotPage, lists, mixed } from "./load/workload.js";
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

const rest = { ours: petstoreRest, peers: [bareExpress, expressFlexible, fastifyRateLimit, restCeiling] };
const graphql = { ours: petstoreGraphql, peers: [bareApollo, postgraphile, mercurius, mercuriusJit, graphqlCeiling] };

/** Every benchmark, in the order of a run. The mixed workloads come first: they resemble real traffic. */
export const benchmarks: readonly Benchmark[] = [
  compareServers({
    name: "rest-mixed",
    workload: mixed,
    ...rest,
    connections: [32, 1, 512],
    targets: [
      { connections: 32, measure: "CPU us/request", against: bareExpress, atMost: 0.65 },
      { connections: 32, measure: "CPU us/request", against: fastifyRateLimit, atMost: 1.3 },
      { connections: 512, measure: "p99 ms", against: bareExpress, atMost: 0.75 },
    ],
  }),
  compareServers({
    name: "graphql-mixed",
    workload: mixed,
    ...graphql,
    connections: [32, 1, 512],
    targets: [
      { connections: 32, measure: "CPU us/request", against: bareApollo, atMost: 0.65 },
      { connections: 32, measure: "CPU us/request", against: postgraphile, atMost: 0.65 },
      { connections: 512, measure: "p99 ms", against: bareApollo, atMost: 0.75 },
    ],
  }),
  compareServers({
    name: "rest-list",
    workload: lists,
    ...rest,
    connections: [1],
    targets: [
      { connections: 1, measure: "CPU us/request", against: bareExpress, atMost: 0.95 },
      { connections: 1, measure: "CPU us/request", against: fastifyRateLimit, atMost: 1.5 },
      { connections: 1, measure: "CPU us/request", against: restCeiling, atMost: 1.8 },
      { connections: 1, measure: "p50 ms", against: expressFlexible, atMost: 0.9 },
    ],
  }),
  compareServers({
    name: "graphql-list",
    workload: lists,
    ...graphql,
    connections: [1],
    targets: [{ connections: 1, measure: "CPU us/request", against: bareApollo, atMost: 0.95 }],
  }),
  compareServers({
    name: "rest-create",
    workload: creates,
    ours: petstoreRest,
    peers: [bareExpress],
    connections: [32, 1],
    targets: [
      { connections: 32, measure: "CPU us/request", against: bareExpress, atMost: 0.6 },
      { connections: 1, measure: "CPU us/request", against: bareExpress, atMost: 0.95 },
    ],
  }),
  compareServers({
    name: "graphql-create",
    workload: creates,
    ours: petstoreGraphql,
    peers: [bareApollo],
    connections: [32, 1],
  }),
  compareServers({ name: "rest-hot-page", workload: hotPage, ...rest, connections: [32] }),
  compareServers({ name: "graphql-hot-page", workload: hotPage, ...graphql, connections: [32] }),
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
