import type { Benchmark } from "./benchmark.js";
import {
  bareApollo,
  bareExpress,
  bareMercurius,
  barePostgraphile,
  ceiling,
  expressFlexible,
  expressRateLimit,
  fastifyRateLimit,
  petstoreGraphql,
  petstoreGraphqlOnRedis,
  petstoreRest,
  petstoreRestOnRedis,
} from "./contestants.js";
import { differentLists } from "./different-lists.js";
import type { Goal } from "./goal.js";
import * as graphql from "./graphql-work.js";
import * as rest from "./rest-work.js";
import type { Measure } from "./round.js";

/** Judged at 32, and shown for one who asks alone and for many. */
const fewAndMany = [32, 1, 128] as const;

/** Every comparison of servers, and what each must show. */
export const benchmarks: readonly Benchmark[] = [
  {
    name: "rest-list",
    summary: "list 20 of 10,000 pets by status, beside bare Express",
    connections: fewAndMany,
    work: rest.listOf(20),
    contestants: [petstoreRest, bareExpress],
    goals: [cpu(petstoreRest, bareExpress, 0.75)],
  },
  {
    name: "rest-peers",
    summary: "the same list counted in Redis, beside what people would pick instead",
    work: rest.listOf(20),
    contestants: [petstoreRestOnRedis, bareExpress, expressRateLimit, expressFlexible, fastifyRateLimit, ceiling],
    goals: [
      cpu(petstoreRestOnRedis, bareExpress, 0.75),
      cpu(petstoreRestOnRedis, expressFlexible, 0.55),
      cpu(petstoreRestOnRedis, fastifyRateLimit, 1.2),
      cpu(petstoreRestOnRedis, ceiling, 1.6),
    ],
  },
  {
    name: "rest-different-lists",
    summary: "lists of 5 to 36 pets, each of 32 callers another",
    work: differentLists(rest.listOf),
    contestants: [petstoreRestOnRedis, bareExpress],
    goals: [cpu(petstoreRestOnRedis, bareExpress, 0.75)],
  },
  {
    name: "rest-list-100",
    summary: "list 100 of 10,000 pets by status",
    work: rest.listOf(100),
    contestants: [petstoreRestOnRedis, bareExpress],
    goals: [],
  },
  {
    name: "rest-create",
    summary: "add a pet",
    connections: fewAndMany,
    work: rest.create,
    contestants: [petstoreRestOnRedis, bareExpress],
    goals: [cpu(petstoreRestOnRedis, bareExpress, 0.8)],
  },
  {
    name: "rest-crowd",
    summary: "list 20 of 10,000 pets by status, for very many at once",
    connections: [512],
    work: rest.listOf(20),
    contestants: [petstoreRestOnRedis, bareExpress],
    goals: [p99(petstoreRestOnRedis, bareExpress, 1)],
  },
  {
    name: "graphql-list",
    summary: "list 20 of 10,000 pets by status over GraphQL, beside bare Apollo",
    connections: fewAndMany,
    work: graphql.listOf(20),
    contestants: [petstoreGraphql, bareApollo],
    goals: [cpu(petstoreGraphql, bareApollo, 0.7)],
  },
  {
    name: "graphql-peers",
    summary: "the same list counted in Redis, beside what people would pick instead",
    work: graphql.listOf(20),
    contestants: [petstoreGraphqlOnRedis, bareApollo, bareMercurius, barePostgraphile],
    goals: [
      cpu(petstoreGraphqlOnRedis, bareApollo, 0.7),
      cpu(petstoreGraphqlOnRedis, barePostgraphile, 0.75),
      moonshot(cpu(petstoreGraphqlOnRedis, bareApollo, 0.45)),
      moonshot(cpu(petstoreGraphqlOnRedis, barePostgraphile, 0.45)),
      moonshot(cpu(petstoreGraphqlOnRedis, bareMercurius, 1.2)),
    ],
  },
  {
    name: "graphql-different-lists",
    summary: "lists of 5 to 36 pets over GraphQL, each of 32 callers another",
    work: differentLists(graphql.listOf),
    contestants: [petstoreGraphqlOnRedis, bareApollo],
    goals: [cpu(petstoreGraphqlOnRedis, bareApollo, 0.7)],
  },
  {
    name: "graphql-create",
    summary: "add a pet over GraphQL",
    connections: fewAndMany,
    work: graphql.create,
    contestants: [petstoreGraphqlOnRedis, bareApollo],
    goals: [cpu(petstoreGraphqlOnRedis, bareApollo, 0.85)],
  },
  {
    name: "graphql-crowd",
    summary: "list 20 of 10,000 pets by status over GraphQL, for very many at once",
    connections: [512],
    work: graphql.listOf(20),
    contestants: [petstoreGraphqlOnRedis, bareApollo],
    goals: [p99(petstoreGraphqlOnRedis, bareApollo, 1)],
  },
];

function cpu(of: { readonly name: string }, against: { readonly name: string }, atMost: number): Goal<Measure> {
  return { measure: "cpuMicroseconds", of: of.name, against: against.name, atMost };
}

function moonshot(goal: Goal<Measure>): Goal<Measure> {
  return { ...goal, uncounted: "moonshot" };
}

function p99(of: { readonly name: string }, against: { readonly name: string }, atMost: number): Goal<Measure> {
  return { measure: "p99Ms", of: of.name, against: against.name, atMost };
}
