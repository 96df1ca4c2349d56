/** What a load needs, by arithmetic on measured figures. Good to a factor of two: it says which part is the next one to grow. */
import { readDatabaseConfig } from "@petstore/core";
import { formatTable } from "@petstore/harness/figures";
import type { Measurements } from "./measurements.js";

export interface Load {
  readonly requestsPerSecond: number;
  /** How many API keys are in use at the same time. */
  readonly activeKeys: number;
}

/** One line of the result. */
interface Sum {
  readonly what: string;
  readonly value: number;
  readonly how: string;
}

/** A limit that a growing load reaches. */
interface Wall {
  readonly what: string;
  readonly atRequestsPerSecond: number;
}

export interface Capacity {
  readonly sums: readonly Sum[];
  /** In the order in which a growing load reaches them. */
  readonly walls: readonly Wall[];
}

/** The figures that no benchmark measures. */
const assumed = {
  /** As the autoscalers do. */
  utilisation: 0.7,
  /** The browse workload. */
  createShare: 0.1,
  restShare: 0.5,
  /** Decision 0011: a list of 20 pets. A create and a look-up of a key were not measured. */
  postgresMicrosecondsPerStatement: 100,
  postgresCores: 32,
  maxConnections: 100,
  /** For the superuser and the petstore command. */
  keptConnections: 8,
  connectionsBesidePool: 2,
  /** A key in use is read again after this time (decision 0009). */
  keyRefreshSeconds: 4,
  /** The balancer sends a key to one instance of each API. */
  instancesPerKey: 2,
  /** Old idempotency keys, with 10,000,000 of them (decision 0042). One instance deletes at a time. */
  rowsDeletedPerSecond: 17_500,
  /** `server-template` in haproxy.containers.cfg. */
  containersPerApi: 10,
} as const;

const { poolSize } = readDatabaseConfig({ DATABASE_URL: "postgres://host/database" });
const connectionsPerInstance = poolSize + assumed.connectionsBesidePool;
const secondsPerDay = 86_400;

export function capacityOf(measured: Measurements, load: Load): Capacity {
  const { requestsPerSecond, activeKeys } = load;
  const { restShare, createShare, utilisation } = assumed;
  const each = needsOf(measured, load);
  const decisionsOfShard = measured.decisionsPerSecond * utilisation;
  const memory = (each.rest * measured.memoryMebibytes.rest + each.graphql * measured.memoryMebibytes.graphql) / 1_024;
  const sums: Sum[] = [
    {
      what: "REST instances",
      value: each.rest,
      how: `${restShare * 100} % of the requests, ${rough(measured.cpuMicroseconds.rest)} us of CPU each, one core of which ${utilisation * 100} % are used`,
    },
    {
      what: "GraphQL instances",
      value: each.graphql,
      how: `the others, ${rough(measured.cpuMicroseconds.graphql)} us each`,
    },
    { what: "memory of all instances, GiB", value: memory, how: "the highest RSS at 512 connections" },
    {
      what: "connections to PostgreSQL",
      value: (each.rest + each.graphql) * connectionsPerInstance,
      how: `${connectionsPerInstance} for each instance`,
    },
    {
      what: "look-ups of keys per second",
      value: each.keyLookUps,
      how: `${rough(activeKeys)} keys, each on one instance of each API and read again after ${assumed.keyRefreshSeconds} s`,
    },
    {
      what: "the same, if every instance serves every key",
      value: lookUpsOf(activeKeys, requestsPerSecond, each.rest + each.graphql),
      how: "the balancer would not choose the instance by the key",
    },
    {
      what: "SQL statements per second",
      value: each.statements,
      how: "creates, lists that are not in memory, look-ups of keys",
    },
    {
      what: "cores of PostgreSQL",
      value: each.postgresCores,
      how: `${assumed.postgresMicrosecondsPerStatement} us for each statement, ${utilisation * 100} % used`,
    },
    {
      what: "Redis shards",
      value: Math.ceil(requestsPerSecond / decisionsOfShard),
      how: `a decision for each request; ${rough(decisionsOfShard)} a second on each shard`,
    },
    {
      what: "rows of idempotency keys, for 24 h",
      value: requestsPerSecond * createShare * secondsPerDay,
      how: `${createShare * 100} % of the requests are creates with a key`,
    },
  ];
  return { sums, walls: wallsOf(measured, activeKeys) };
}

interface Needs {
  readonly rest: number;
  readonly graphql: number;
  readonly keyLookUps: number;
  readonly statements: number;
  readonly postgresCores: number;
}

function needsOf(measured: Measurements, { requestsPerSecond, activeKeys }: Load): Needs {
  const { restShare, createShare, utilisation, postgresMicrosecondsPerStatement } = assumed;
  const instances = (share: number, microseconds: number) =>
    Math.ceil((requestsPerSecond * share * microseconds) / 1e6 / utilisation);
  const rest = instances(restShare, measured.cpuMicroseconds.rest);
  const graphql = instances(1 - restShare, measured.cpuMicroseconds.graphql);
  const keyLookUps = lookUpsOf(activeKeys, requestsPerSecond, assumed.instancesPerKey);
  const { statementsPerList } = measured;
  const perList = restShare * statementsPerList.rest + (1 - restShare) * statementsPerList.graphql;
  const statements = requestsPerSecond * (createShare + (1 - createShare) * perList) + keyLookUps;
  const postgresCores = (statements * postgresMicrosecondsPerStatement) / 1e6 / utilisation;
  return { rest, graphql, keyLookUps, statements, postgresCores };
}

/**
 * A key is read at its first request after the refresh time. So an instance reads each of its keys once per refresh time and
 * pause between two requests with the key.
 */
function lookUpsOf(keys: number, requestsPerSecond: number, instancesPerKey: number): number {
  const pauseSeconds = (keys * instancesPerKey) / requestsPerSecond;
  return (keys * instancesPerKey) / (assumed.keyRefreshSeconds + pauseSeconds);
}

function wallsOf(measured: Measurements, activeKeys: number): Wall[] {
  const { maxConnections, keptConnections, containersPerApi, postgresCores, utilisation } = assumed;
  const { createShare, rowsDeletedPerSecond } = assumed;
  const wall = (what: string, isReached: (needs: Needs, requestsPerSecond: number) => boolean): Wall => ({
    what,
    atRequestsPerSecond: smallestLoad((requestsPerSecond) =>
      isReached(needsOf(measured, { requestsPerSecond, activeKeys }), requestsPerSecond),
    ),
  });
  return [
    wall(
      `PostgreSQL has no connection left (max_connections ${maxConnections}, ${keptConnections} of them kept free)`,
      ({ rest, graphql }) => (rest + graphql) * connectionsPerInstance > maxConnections - keptConnections,
    ),
    wall(`haproxy.containers.cfg knows ${containersPerApi} containers of each API`, ({ rest, graphql }) => {
      return Math.max(rest, graphql) > containersPerApi;
    }),
    wall("one Redis is not enough", (_needs, requestsPerSecond) => {
      return requestsPerSecond > measured.decisionsPerSecond * utilisation;
    }),
    wall("idempotency keys are stored faster than old ones are deleted", (_needs, requestsPerSecond) => {
      return requestsPerSecond * createShare > rowsDeletedPerSecond;
    }),
    wall(`a PostgreSQL of ${postgresCores} cores is busy`, (needs) => needs.postgresCores > postgresCores),
  ].sort((a, b) => a.atRequestsPerSecond - b.atRequestsPerSecond);
}

/** Every wall is reached below this load, because each request needs CPU time and a decision. */
const largestLoad = 2 ** 40;

function smallestLoad(isReached: (requestsPerSecond: number) => boolean): number {
  let [below, reached] = [0, largestLoad];
  while (reached - below > 1) {
    const middle = Math.floor((below + reached) / 2);
    if (isReached(middle)) reached = middle;
    else below = middle;
  }
  return reached;
}

export function formatCapacity(measured: Measurements, load: Load): string {
  const { sums, walls } = capacityOf(measured, load);
  const [first] = walls;
  const isPassed = (wall: Wall) => wall.atRequestsPerSecond <= load.requestsPerSecond;
  return `${count(load.requestsPerSecond)} requests per second need about:

${formatTable(sums.map(({ what, value, how }) => [rough(value).padStart(13), what, how]))}

First wall: at ${rough(first?.atRequestsPerSecond ?? Number.NaN)} requests per second, ${first?.what}.

${formatTable(walls.map((wall) => [isPassed(wall) ? "passed" : "", rough(wall.atRequestsPerSecond).padStart(13), wall.what]))}

Measured: CPU time, memory, statements per list and decisions per second, in ${measured.file} (commit ${measured.commit},
${measured.machine}). Redis may decide more than one process asked it to.
Assumed: half of the requests over each API, of the browse workload (${assumed.createShare * 100} % creates); ${assumed.utilisation * 100} % of each core used;
${assumed.postgresMicrosecondsPerStatement} us of PostgreSQL for each statement; DATABASE_POOL_SIZE ${poolSize}; ${count(assumed.rowsDeletedPerSecond)} old idempotency
keys deleted per second; keys in use: ${count(load.activeKeys)} (--keys).
All else is arithmetic, good to a factor of two. No load above that of one machine was ever measured.`;
}

/** Two digits: more would be noise. */
function rough(value: number): string {
  return count(Number(value.toPrecision(2)));
}

function count(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}
