import type { PetStatus } from "@petstore/core";
import { type Benchmark, type Target, usual } from "./benchmark.js";
import { compareServers, type ServerCase } from "./comparison.js";
import { restList } from "./load/rest-requests.js";
import { creates, listLimits, lists, type WorkloadPart } from "./load/workload.js";
import { petstoreRest } from "./servers/server-programs.js";
import { openMigratedCore, query, type StoreOptions } from "./servers/store.js";

const pageSize = 20;

/**
 * The history of a store: the older half is sold, half of the newer half is available, and one pet in 1,000 is pending. A
 * planner that trusts averages would read the older half to find 20 available pets.
 */
function storeOf(pets: number): StoreOptions {
  const status = `case when number % ${pets / 1_000} = 0 then 'pending'
    when number > ${pets / 2} and number % 2 = 1 then 'available' else 'sold' end`;
  return { pets, status, accounts: 32 };
}

/** Lists and creates in a large table, compared with the first page and with a small table. */
export function pagesBenchmark(pets: number, page: number): Benchmark {
  const [large, small] = [storeOf(pets), storeOf(10_000)];
  const available = { status: "available", page, store: large } as const;
  return compareServers({
    name: "scalability-pages",
    summary: `lists to page ${page.toLocaleString("en")} and creates, with ${pets.toLocaleString("en")} pets`,
    cases: [
      listCase("first page", { store: large }),
      listCase("far page", { store: large, page }),
      // PostgreSQL may choose either kind of plan, and its choice changes with its statistics.
      { ...listCase("available, custom plan", available), databaseOptions: "-c plan_cache_mode=force_custom_plan" },
      { ...listCase("available, generic plan", available), databaseOptions: "-c plan_cache_mode=force_generic_plan" },
      listCase("rare", { store: large, status: "pending" }),
      listCase("small table", { store: small }),
      listCase("small table, available", { store: small, status: "available" }),
      restCase("create", large, creates(petstoreRest.requests)),
      restCase("small table, create", small, creates(petstoreRest.requests)),
    ],
    defaults: { ...usual, connections: [32] },
    targets: [
      ...atMost(1.1, "far page", "first page"),
      ...atMost(1.2, "first page", "small table"),
      ...atMost(1.2, "available, custom plan", "small table, available"),
      ...atMost(1.2, "available, generic plan", "small table, available"),
      ...atMost(1.2, "rare", "small table, available"),
      ...atMost(1.2, "create", "small table, create"),
    ],
  });
}

/** With many accounts, most requests find no cached key, and read it from PostgreSQL. */
export function accountsBenchmark(accounts: number): Benchmark {
  const [few, many] = ["32 accounts", `${accounts.toLocaleString("en")} accounts`];
  const list = restCase(many, { pets: 10_000, accounts }, lists(petstoreRest.requests));
  return compareServers({
    name: "scalability-accounts",
    summary: `lists of ${many} instead of ${few}`,
    cases: [{ ...list, name: few, accounts: 32 }, list],
    defaults: { ...usual, connections: [32] },
    targets: atMost(2, many, few),
  });
}

interface ListOptions {
  readonly store: StoreOptions;
  readonly status?: PetStatus;
  readonly page?: number;
}

function listCase(name: string, { store, status, page = 1 }: ListOptions): ServerCase {
  return {
    ...restCase(name, store, []),
    async parts({ databaseUrl }) {
      const { cursor, firstId } = await positionOf(databaseUrl, page, status);
      const operations = listLimits.map((limit) => restList({ limit, status, cursor, firstId }));
      return [{ share: 1, operations }];
    },
  };
}

function restCase(name: string, store: StoreOptions, parts: readonly WorkloadPart[]): ServerCase {
  // All servers together must not need more than PostgreSQL's 100 connections.
  return { name, program: petstoreRest, store, environment: { DATABASE_POOL_SIZE: "5" }, parts: () => parts };
}

/** The first pet of a page, counted by the statement that cursors avoid, and core's own cursor of the pet before. */
async function positionOf(databaseUrl: string, page: number, status: PetStatus | undefined) {
  const where = status === undefined ? "" : `where status = '${status}'`;
  const idAt = async (offset: number) => {
    const [pet] = await query(databaseUrl, `select id from pets ${where} order by id offset ${offset} limit 1`);
    return `${pet?.id}`;
  };
  const offset = (page - 1) * pageSize;
  const firstId = Number(await idAt(offset));
  if (page === 1) return { firstId };
  await using core = await openMigratedCore(databaseUrl);
  const { cursorOf } = await core.catalogues.both.listAsConnection({ first: 1, status });
  return { firstId, cursor: cursorOf(await core.catalogues.both.get(await idAt(offset - 1))) };
}

/** The latency at 32 connections includes the time of PostgreSQL. It varies more than the CPU time. */
function atMost(limit: number, of: string, against: string): Target[] {
  return [
    { measure: "cpuMicroseconds", of, against, atMost: limit },
    { measure: "p50Ms", of, against, atMost: limit + 0.1 },
  ];
}
