import type { Benchmark } from "./benchmark.js";
import type { Goal } from "./goal.js";
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
} from "./peers.js";
import type { Measure } from "./round.js";
import { creates, hotPage, lists, mixed } from "./workload.js";

const restServers = [petstoreRest, bareExpress, expressFlexible, fastifyRateLimit, restCeiling] as const;
const graphqlServers = [petstoreGraphql, bareApollo, postgraphile, mercurius, mercuriusJit, graphqlCeiling] as const;

/** Every comparison of servers, and its targets. The mixed workloads come first: they are most like real traffic. */
export const benchmarks: readonly Benchmark[] = [
  {
    name: "rest-mixed",
    summary: "lists of 10 to 30 pets and 10 % creates, of 32 accounts, all different",
    workload: mixed,
    contestants: restServers,
    connections: [32, 1, 512],
    goals: [
      ...atMost("cpuMicroseconds", "petstore-rest", "bare-express", 0.65, 0.5),
      ...atMost("cpuMicroseconds", "petstore-rest", "fastify-rate-limit", 1.3, 1),
      ...atMost("p99Ms", "petstore-rest", "bare-express", 0.75, 0.4, 512),
    ],
  },
  {
    name: "graphql-mixed",
    summary: "the same over GraphQL",
    workload: mixed,
    contestants: graphqlServers,
    connections: [32, 1, 512],
    goals: [
      ...atMost("cpuMicroseconds", "petstore-graphql", "bare-apollo", 0.65, 0.5),
      ...atMost("cpuMicroseconds", "petstore-graphql", "postgraphile", 0.65, 0.5),
      ...atMost("p99Ms", "petstore-graphql", "bare-apollo", 0.75, 0.4, 512),
    ],
  },
  {
    name: "rest-list",
    summary: "lists of 10 to 30 pets, one at a time",
    workload: lists,
    contestants: restServers,
    connections: [1],
    goals: [
      ...atMost("cpuMicroseconds", "petstore-rest", "bare-express", 0.95, 0.75),
      ...atMost("cpuMicroseconds", "petstore-rest", "fastify-rate-limit", 1.5, 1.15),
      ...atMost("cpuMicroseconds", "petstore-rest", "ceiling", 1.8, 1.4),
      ...atMost("p50Ms", "petstore-rest", "express-flexible", 0.9, 0.75),
    ],
  },
  {
    name: "graphql-list",
    summary: "the same over GraphQL",
    workload: lists,
    contestants: graphqlServers,
    connections: [1],
    goals: atMost("cpuMicroseconds", "petstore-graphql", "bare-apollo", 0.95, 0.75),
  },
  {
    name: "rest-create",
    summary: "add pets, of 32 accounts",
    workload: creates,
    contestants: [petstoreRest, bareExpress],
    connections: [32, 1],
    goals: [
      ...atMost("cpuMicroseconds", "petstore-rest", "bare-express", 0.6, 0.45),
      ...atMost("cpuMicroseconds", "petstore-rest", "bare-express", 0.95, 0.8, 1),
    ],
  },
  {
    name: "graphql-create",
    summary: "the same over GraphQL",
    workload: creates,
    contestants: [petstoreGraphql, bareApollo],
    connections: [32, 1],
    goals: [],
  },
  {
    name: "rest-hot-page",
    summary: "the same page with the same key for everybody (information)",
    workload: hotPage,
    contestants: restServers,
    connections: [32],
    goals: [],
  },
  {
    name: "graphql-hot-page",
    summary: "the same over GraphQL (information)",
    workload: hotPage,
    contestants: graphqlServers,
    connections: [32],
    goals: [],
  },
];

/** A target and its stretch goal, at the benchmark's first number of connections or at the given one. */
function atMost(
  measure: Measure,
  of: string,
  against: string,
  target: number,
  stretch: number,
  connections?: number,
): Goal<Measure>[] {
  const goal = { measure, of, against, ...(connections !== undefined && { connections }) };
  return [
    { ...goal, atMost: target },
    { ...goal, atMost: stretch, uncounted: "stretch goal" },
  ];
}
