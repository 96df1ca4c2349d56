// Pages of one instance of a service, while inserts are open and pets change.
import { shared } from "@petstore/harness";
import { openSession, type Session } from "@petstore/harness/postgres";
import { beforeEach, describe, expect, it } from "vitest";
import { openSharedDatabase, recordStatements } from "../database-fixture.js";
import { recordLog } from "../logs.js";
import { type OpenCatalogue, openCatalogue } from "./open-catalogue.js";

const server = await openSharedDatabase();
const database = await shared(server.open({ readTimeoutMs: 10_000 }));
const insert = "insert into pets (name, category_id, status) values ('Rex', 1, 'sold')";

beforeEach(async () => {
  await server.execute("truncate pets restart identity cascade");
});

async function addPets(count: number): Promise<void> {
  await server.execute(
    `insert into pets (name, category_id, status) select 'Rex', 1, 'sold' from generate_series(1, ${count})`,
  );
}

/** A transaction that has drawn the next id, and has not ended. */
async function openInsert(): Promise<Session> {
  const session = await openSession(server.directUrl);
  await session.query(`begin; ${insert}`);
  return session;
}

async function openSettled(options: Parameters<typeof openCatalogue>[1] = {}) {
  const catalogue = openCatalogue(database, options);
  await catalogue.settledIds.first;
  return catalogue;
}

/** An instance observes once a second. Here the clock moves in steps, and each step needs an observation. */
async function observe({ settledIds }: OpenCatalogue): Promise<void> {
  expect(await settledIds.settle(2n ** 62n)).toBe("not drawn");
}

const idsOf = ({ pets }: { readonly pets: readonly { readonly id: bigint }[] }) => pets.map(({ id }) => Number(id));

describe("a page that ends beyond an open insert", () => {
  it.each(["commit", "rollback"])("waits for the %s of the insert", async (end) => {
    await addPets(2);
    using catalogue = await openSettled();
    await using writer = await openInsert();
    await addPets(2);
    const list = catalogue.list({ limit: 3 });
    const connection = catalogue.listAsConnection({ first: 10 });
    await expect.poll(() => catalogue.settledIds.stats().waiting).toBe(2);
    await writer.query(end);
    const expected = end === "commit" ? [1, 2, 3, 4, 5] : [1, 2, 4, 5];
    expect(idsOf(await list)).toEqual(expected.slice(0, 3));
    expect(await list).toMatchObject({ isSettled: true, nextCursor: expect.any(String) });
    expect(idsOf(await connection)).toEqual(expected);
  });

  it("is returned without a cursor beyond the settled id if the insert stays open", async () => {
    await addPets(2);
    using catalogue = await openSettled();
    await using writer = await openInsert();
    await addPets(3);
    const [list, connection] = await Promise.all([
      catalogue.list({ limit: 3 }),
      catalogue.listAsConnection({ first: 3 }),
    ]);
    expect(list).toMatchObject({ nextCursor: undefined, isSettled: false });
    expect(idsOf(list)).toEqual([1, 2, 4]);
    expect(connection).toMatchObject({ nextCursor: undefined, isSettled: false });
    expect(idsOf(connection)).toEqual([1, 2]);
    expect(catalogue.pages.shortened()).toBe(2);
    await writer.query("commit");
    // A client continues from the end of the connection, and gets the rest.
    const after = connection.cursorOf(connection.pets.at(-1) ?? expect.unreachable());
    expect(idsOf(await catalogue.listAsConnection({ first: 10, after }))).toEqual([3, 4, 5, 6]);
  });

  it("is returned at once if it is the last one of a list, with the newest pets", async () => {
    using catalogue = await openSettled();
    await using _writer = await openInsert();
    const { pet } = await catalogue.create({ input: { name: "Ada", categoryId: 1n } });
    expect(await catalogue.list({})).toMatchObject({ pets: [pet], nextCursor: undefined, isSettled: false });
    expect(catalogue.settledIds.stats().waits).toEqual({ settled: 0, late: 0, "not drawn": 0 });
  });

  it("waits with a status filter, too, for a pet of that status", async () => {
    using catalogue = await openSettled();
    await using writer = await openInsert();
    await addPets(2);
    const list = catalogue.list({ status: "sold", limit: 1 });
    await expect.poll(() => catalogue.settledIds.stats().waiting).toBe(1);
    await writer.query("commit");
    expect(idsOf(await list)).toEqual([1]);
  });

  it("does not wait if it ends before the insert", async () => {
    await addPets(3);
    using catalogue = await openSettled();
    await using _writer = await openInsert();
    await addPets(1);
    expect(await catalogue.list({ limit: 2 })).toMatchObject({ isSettled: true });
    expect(idsOf(await catalogue.listAsConnection({ first: 3 }))).toEqual([1, 2, 3]);
    expect(catalogue.settledIds.stats().waits).toMatchObject({ settled: 0, late: 0 });
  });
});

describe("an insert that is open for more than 5 s", () => {
  it("is ignored and named once, and the list is complete", async () => {
    let nowMs = 0;
    const { log, logged } = recordLog();
    await addPets(1);
    using catalogue = await openSettled({ log, monotonicNow: () => nowMs });
    await using _writer = await openInsert();
    await addPets(2);
    expect(idsOf(await catalogue.list({ limit: 2 }))).toEqual([1, 3]);
    nowMs = 2_500;
    await observe(catalogue);
    nowMs = 5_000;
    expect(await catalogue.list({ limit: 2 })).toMatchObject({ nextCursor: undefined });
    expect(catalogue.settledIds.stats().forgottenInserts).toBe(0);
    nowMs = 5_001;
    expect(await catalogue.list({ limit: 2 })).toMatchObject({ nextCursor: expect.any(String), isSettled: true });
    expect(await catalogue.list({ limit: 1 })).toMatchObject({ isSettled: true });
    expect(catalogue.settledIds.stats().forgottenInserts).toBe(1);
    expect(logged).toEqual(["a transaction keeps an insert of pets open: lists ignore it"]);
  });

  it("is not ignored if it could not be observed meanwhile, because PostgreSQL may have been stopped", async () => {
    let nowMs = 0;
    await addPets(1);
    using catalogue = await openSettled({ monotonicNow: () => nowMs });
    await using writer = await openInsert();
    await addPets(2);
    await observe(catalogue);
    nowMs = 60_000;
    const list = catalogue.list({ limit: 2 });
    await expect.poll(() => catalogue.settledIds.stats().waiting).toBe(1);
    await writer.query("commit");
    expect(idsOf(await list)).toEqual([1, 2]);
    expect(catalogue.settledIds.stats().forgottenInserts).toBe(0);
  });

  it("delays the start of an instance, and does not hide the pets", async () => {
    let nowMs = 0;
    await addPets(3);
    await using _writer = await openInsert();
    using catalogue = openCatalogue(database, { monotonicNow: () => nowMs });
    // After the first observation.
    await expect(catalogue.list({ limit: 2 })).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    nowMs = 2_500;
    await observe(catalogue);
    nowMs = 5_001;
    await catalogue.settledIds.first;
    expect(idsOf(await catalogue.list({ limit: 2 }))).toEqual([1, 2]);
  });
});

describe("a pet with an id that an operator chose", () => {
  it("does not end a walk if the sequence has not reached the id, and its page is not kept", async () => {
    await addPets(1);
    using catalogue = await openSettled();
    await server.execute("insert into pets values (1000, 'Rex', 1, 'sold'), (1001, 'Rex', 1, 'sold')");
    const first = await catalogue.list({ limit: 2 });
    expect(idsOf(first)).toEqual([1, 1000]);
    expect(first).toMatchObject({ nextCursor: expect.any(String), isSettled: false });
    expect(idsOf(await catalogue.list({ limit: 2, cursor: first.nextCursor }))).toEqual([1001]);
    expect(idsOf(await catalogue.listAsConnection({ first: 3 }))).toEqual([1, 1000, 1001]);
  });
});

describe("a settled page", () => {
  async function openRecorded(monotonicNow: () => number) {
    await addPets(5);
    const { run, ran } = recordStatements(database);
    const catalogue = openCatalogue({ ...database, run }, { monotonicNow });
    await catalogue.settledIds.first;
    const reads = () => ran.filter(({ name }) => name.startsWith("select-pets")).length;
    return { catalogue, reads };
  }

  it("is read once in 5 s, for lists and connections", async () => {
    let nowMs = 0;
    const { catalogue, reads } = await openRecorded(() => nowMs);
    using _catalogue = catalogue;
    const page = await catalogue.list({ limit: 2 });
    expect(await catalogue.list({ limit: 2 })).toBe(page);
    expect(await catalogue.listAsConnection({ first: 2 })).toBe(page);
    nowMs = 5_000;
    expect(await catalogue.list({ limit: 2 })).toBe(page);
    expect(reads()).toBe(1);
    nowMs = 5_001;
    // The settled id is as old as the page. In a service it is observed once a second.
    await catalogue.settledIds.settle(5n);
    // Many requests share the next read.
    const again = await Promise.all(Array.from({ length: 10 }, () => catalogue.list({ limit: 2 })));
    expect(new Set(again).size).toBe(1);
    expect(reads()).toBe(2);
    expect(catalogue.keptPages.stats()).toMatchObject({ pages: 1, hits: 12, misses: 2 });
  });

  it("is another one for another limit, status or cursor, and the last page is never kept", async () => {
    const { catalogue, reads } = await openRecorded(() => 0);
    using _catalogue = catalogue;
    const { nextCursor: cursor } = await catalogue.list({ limit: 2 });
    const others = [{ limit: 3 }, { limit: 2, status: "sold" }, { limit: 2, cursor }];
    for (const input of others) await catalogue.list(input);
    expect(reads()).toBe(4);
    for (const input of others) await catalogue.list(input);
    expect(reads()).toBe(4);
    for (const limit of [5, 5, 6, 6]) await catalogue.list({ limit });
    expect(reads()).toBe(8);
  });

  it("is read again after a change, even if the change came during the read", async () => {
    const { catalogue, reads } = await openRecorded(() => 0);
    using _catalogue = catalogue;
    await catalogue.list({ limit: 2 });
    await server.execute("update pets set name = 'Ada' where id = 1");
    catalogue.keptPages.drop();
    const during = catalogue.list({ limit: 2 });
    catalogue.keptPages.drop();
    expect((await during).pets[0]).toMatchObject({ name: "Ada" });
    await catalogue.list({ limit: 2 });
    expect(reads()).toBe(3);
  });

  it("displaces no page that is requested again and again, however many there are", async () => {
    const { catalogue, reads } = await openRecorded(() => 0);
    using _catalogue = catalogue;
    for (let times = 0; times < 2; times += 1) await catalogue.list({ limit: 2 });
    const many = {
      pets: Array.from({ length: 5_000 }, (_, id) => ({
        id: BigInt(id),
        name: "x",
        categoryId: 1n,
        status: "sold" as const,
      })),
    };
    for (let page = 0; page < 20; page += 1) {
      catalogue.keptPages.startRead().keep(`${page}`, { ...many, nextCursor: "", isSettled: true, cursorOf: () => "" });
    }
    expect(catalogue.keptPages.stats().bytes).toBeLessThan(16 * 1_024 * 1_024);
    await catalogue.list({ limit: 2 });
    expect(reads()).toBe(1);
  });
});

it("a list is 503 if the database fails while it waits", async () => {
  await addPets(1);
  await using own = server.open();
  const refusal = new Error("refused by the test");
  using catalogue = openCatalogue(own);
  await catalogue.settledIds.first;
  await using _writer = await openInsert();
  await addPets(2);
  const list = catalogue.list({ limit: 2 });
  await expect.poll(() => catalogue.settledIds.stats().waiting).toBe(1);
  own.refuse(refusal);
  await expect(list).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
});
