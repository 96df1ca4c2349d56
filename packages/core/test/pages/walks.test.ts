// Walks of many clients over two instances, while writers of every kind create pets with pauses between the id and the commit.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { shared } from "@petstore/harness";
import { openSession } from "@petstore/harness/postgres";
import fc from "fast-check";
import { expect, it } from "vitest";
import { limitedTo, openSharedDatabase } from "../database-fixture.js";
import { type OpenCatalogue, openCatalogue } from "./open-catalogue.js";

const petsOfWriter = 25;
const server = await openSharedDatabase();
await server.execute("insert into accounts (id, name, plan) values (1, 'one', 'free')");
// Between the id and the commit, each insert pauses for a random time.
await server.execute(`
  create function pause() returns trigger language plpgsql as $$ begin
    perform pg_sleep(random() * random() * 0.05);
    return null;
  end $$;
  create trigger pause after insert on pets for each statement execute function pause();
`);

type Write = (catalogue: OpenCatalogue) => Promise<unknown>;
const input = { name: "Rex", categoryId: 1n };
const insert = "insert into pets (name, category_id, status) values ('Rex', 1, 'sold')";

const writes: readonly Write[] = [
  (catalogue) => catalogue.create({ input }),
  (catalogue) => catalogue.create({ input, idempotencyKey: randomUUID() }),
  // psql: a transaction that ends somehow, or whose session is killed.
  async () => {
    await using session = await openSession(server.directUrl);
    await session.query(`begin; ${insert}`);
    const end = fc.sample(fc.constantFrom("commit", "rollback", "select pg_terminate_backend(pg_backend_pid())"), 1)[0];
    // A killed session rejects.
    await session.query(end ?? "commit").catch(() => {});
  },
  async () => {
    await server.execute(
      `insert into pets (name, category_id, status) select 'Rex', n, 'sold' from generate_series(1, 5) n`,
    );
  },
];

it("return each pet that was stored before they began once, in order, and followers of endCursor get each pet once", async () => {
  const open = () => shared(server.open({ poolSize: 10, ...limitedTo(30_000) }));
  const databases = [await open(), await open()];
  const catalogues = databases.map((database) => openCatalogue(database));
  await Promise.all(catalogues.map(({ settledIds }) => settledIds.first));
  let isWriting = true;

  async function write(place: number): Promise<void> {
    for (let pet = 0; pet < petsOfWriter; pet += 1) {
      await writes[place % writes.length]?.(catalogueAt(place));
    }
  }

  function shortened(): number {
    return catalogues.reduce((sum, { pages }) => sum + pages.shortened(), 0);
  }

  function catalogueAt(place: number): OpenCatalogue {
    return catalogues[place % catalogues.length] ?? expect.unreachable();
  }

  async function walkAgainAndAgain(place: number): Promise<number> {
    let walks = 0;
    while (isWriting || walks === 0) {
      const shortenedBefore = shortened();
      const before = await storedIds();
      const walked: bigint[] = [];
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
        const page = await catalogueAt(place + walks).list({ limit: 7, cursor });
        walked.push(...page.pets.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      expectAscending(walked);
      // On a busy machine an insert can stay open for too long. A walk then ends early, but has no gap.
      const end = shortened() === shortenedBefore ? before.at(-1) : walked.at(-1);
      expect(before.filter((id) => id <= (end ?? 0n) && !walked.includes(id))).toEqual([]);
      walks += 1;
    }
    return walks;
  }

  async function follow(place: number): Promise<bigint[]> {
    const followed: bigint[] = [];
    let after: string | undefined;
    for (let isEnd = false; !isEnd; ) {
      const [wasWriting, shortenedBefore] = [isWriting, shortened()];
      const { pets, cursorOf } = await catalogueAt(place + followed.length).listAsConnection({ first: 5, after });
      followed.push(...pets.map(({ id }) => id));
      const last = pets.at(-1);
      if (last !== undefined) after = cursorOf(last);
      isEnd = last === undefined && !wasWriting && shortened() === shortenedBefore;
      if (last === undefined) await sleep(1);
    }
    return followed;
  }

  const readers = [Promise.all([0, 1, 2].map(walkAgainAndAgain)), Promise.all([0, 1].map(follow))] as const;
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(write)).finally(() => {
    isWriting = false;
  });
  const [walks, followers] = await Promise.all(readers);
  const stored = await storedIds();
  expect(stored.length).toBeGreaterThan(petsOfWriter * 4);
  for (const followed of followers) expect(followed).toEqual(stored);
  expect(Math.min(...walks)).toBeGreaterThan(0);
  for (const catalogue of catalogues) catalogue[Symbol.dispose]();
});

async function storedIds(): Promise<bigint[]> {
  return (await server.execute<{ id: string }>("select id::text from pets order by pets.id")).map(({ id }) =>
    BigInt(id),
  );
}

function expectAscending(ids: readonly bigint[]): void {
  const isAscending = ids.every((id, place) => place === 0 || id > (ids[place - 1] ?? 0n));
  expect(isAscending, ids.join()).toBe(true);
}
