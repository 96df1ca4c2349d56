import { type Benchmark, type Target, usual } from "./benchmark.js";
import { compareServers } from "./comparison.js";
import type { ApiRequests } from "./load/requests.js";
import { creates, hotPage, lists, mixed, type WorkloadPart } from "./load/workload.js";
import { memory } from "./memory.js";
import { hotAccountQuota, quota } from "./quota/quota.js";
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
  type ServerProgram,
} from "./servers/server-programs.js";
import { start } from "./start.js";

/** For each API our service, the bare server, and the other peers. */
const programs = {
  rest: [petstoreRest, bareExpress, expressFlexible, fastifyRateLimit, restCeiling],
  graphql: [petstoreGraphql, bareApollo, postgraphile, mercurius, mercuriusJit, graphqlCeiling],
} as const;

interface PeerComparison {
  readonly name: string;
  readonly summary: string;
  readonly workload: (requests: ApiRequests) => readonly WorkloadPart[];
  readonly connections: readonly [number, ...number[]];
  readonly accounts?: number;
  /** Without the other peers. */
  readonly isBareOnly?: true;
  readonly targets: Readonly<Record<keyof typeof programs, readonly (readonly Target[])[]>>;
}

/** Each runs for both APIs. The mixed workloads come first: they resemble real traffic. */
const peerComparisons: readonly PeerComparison[] = [
  {
    name: "mixed",
    summary: "lists of 10 to 30 pets and 10 % creates, of 32 accounts, all different",
    workload: mixed,
    connections: [32, 1, 512],
    targets: {
      rest: [
        atMost("cpuMicroseconds", petstoreRest, bareExpress, 0.65, 0.5),
        atMost("cpuMicroseconds", petstoreRest, fastifyRateLimit, 1.3, 1),
        atMost("p99Ms", petstoreRest, bareExpress, 0.75, 0.4, 512),
      ],
      graphql: [
        atMost("cpuMicroseconds", petstoreGraphql, bareApollo, 0.65, 0.5),
        atMost("cpuMicroseconds", petstoreGraphql, postgraphile, 0.65, 0.5),
        atMost("p99Ms", petstoreGraphql, bareApollo, 0.75, 0.4, 512),
      ],
    },
  },
  {
    name: "list",
    summary: "lists of 10 to 30 pets, one at a time",
    workload: lists,
    connections: [1],
    targets: {
      rest: [
        atMost("cpuMicroseconds", petstoreRest, bareExpress, 0.95, 0.75),
        atMost("cpuMicroseconds", petstoreRest, fastifyRateLimit, 1.5, 1.15),
        atMost("cpuMicroseconds", petstoreRest, restCeiling, 1.8, 1.4),
        atMost("p50Ms", petstoreRest, expressFlexible, 0.9, 0.75),
      ],
      graphql: [atMost("cpuMicroseconds", petstoreGraphql, bareApollo, 0.95, 0.75)],
    },
  },
  {
    name: "create",
    summary: "add pets, of 32 accounts",
    workload: creates,
    connections: [32, 1],
    isBareOnly: true,
    targets: {
      rest: [
        atMost("cpuMicroseconds", petstoreRest, bareExpress, 0.6, 0.45),
        atMost("cpuMicroseconds", petstoreRest, bareExpress, 0.95, 0.8, 1),
      ],
      graphql: [],
    },
  },
  {
    name: "hot-page",
    summary: "every client requests the same page with the same key (information)",
    workload: hotPage,
    connections: [32],
    accounts: 1,
    targets: { rest: [], graphql: [] },
  },
];

/** Every benchmark, in the order of a run. */
export const benchmarks: readonly Benchmark[] = [
  ...peerComparisons.flatMap((comparison) => [comparePeers("rest", comparison), comparePeers("graphql", comparison)]),
  memory,
  quota,
  hotAccountQuota,
  start,
];

function comparePeers(api: keyof typeof programs, comparison: PeerComparison): Benchmark {
  const { name, summary, workload, connections, accounts = 32, isBareOnly, targets } = comparison;
  return compareServers({
    name: `${api}-${name}`,
    summary,
    cases: programs[api].slice(0, isBareOnly && 2).map((program) => {
      return { name: program.name, program, accounts, parts: () => workload(program.requests) };
    }),
    isSameWork: true,
    defaults: { ...usual, connections },
    targets: targets[api].flat(),
  });
}

/** A target and its stretch goal, at the benchmark's first number of connections or at the given one. */
function atMost(
  measure: "cpuMicroseconds" | "p50Ms" | "p99Ms",
  { name: of }: ServerProgram,
  { name: against }: ServerProgram,
  limit: number,
  stretch: number,
  connections?: number,
): Target[] {
  const ratio = { measure, of, against, ...(connections !== undefined && { connections }) };
  return [
    { ...ratio, atMost: limit },
    { ...ratio, atMost: stretch, isStretch: true },
  ];
}
