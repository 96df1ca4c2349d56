// Commits that no time limit ends: they wait for a synchronous standby. It has a server of its own, because it changes a setting.
import { shared } from "@petstore/harness";
import { openPostgresServer, openSession, query } from "@petstore/harness/postgres";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.js";
import { migrate } from "../../src/database/migrate.js";
import { limitedTo } from "../database-fixture.js";
import { silentLog } from "../logs.js";
import { openCatalogue } from "./open-catalogue.js";

const server = await shared(openPostgresServer());
await migrate(server.url);
const config = { url: server.url, poolSize: 5, ...limitedTo(10_000) };
const database = await shared(openDatabase(config, silentLog));
const input = { name: "Rex", categoryId: 1n };

it("lists wait for a create that waits for a standby, however long it takes, unless the instance has just started", async () => {
  let nowMs = 0;
  using catalogue = openCatalogue(database, { monotonicNow: () => nowMs });
  const create = () => catalogue.create({ input });
  const { pet: first } = await create();
  // Otherwise this instance too has just started.
  await catalogue.settledIds.first;
  await useStandbys("missing");
  const created = create();
  await expect.poll(() => openInserts()).toBe(1);
  // These do not wait for the standby.
  await using session = await openSession(server.url);
  await session.query("set synchronous_commit = local");
  const insert = "insert into pets (name, category_id, status) values ('Rex', 1, 'sold')";
  await session.query(insert);
  await using idle = await openSession(server.url);
  await idle.query(`begin; ${insert}`);
  await session.query(insert);

  for (let second = 0; second <= 7; second += 1) {
    nowMs = 1_000 * second;
    await catalogue.settledIds.settle(2n ** 62n);
  }
  expect(catalogue.settledIds.stats().forgottenInserts).toBe(1);
  expect(await catalogue.list({ limit: 2 })).toMatchObject({ nextCursor: undefined, isSettled: false });

  // Without a settled id, an instance that starts now could serve no list.
  using started = openCatalogue(database, { monotonicNow: () => nowMs });
  for (; nowMs <= 14_000; nowMs += 1_000) await started.settledIds.settle(2n ** 62n);
  expect(await started.list({ limit: 2 })).toMatchObject({ isSettled: true });

  await useStandbys("");
  const { pet: second } = await created;
  const { pets, nextCursor } = await catalogue.list({ limit: 2 });
  expect(pets).toEqual([first, second]);
  expect(nextCursor).toBeDefined();
});

async function useStandbys(names: string): Promise<void> {
  await query(server.administratorUrl, `alter system set synchronous_standby_names = '${names}'`);
  await query(server.administratorUrl, "select pg_reload_conf()");
  await expect
    .poll(() => query(server.administratorUrl, "show synchronous_standby_names"))
    .toMatchObject([{ synchronous_standby_names: names }]);
}

async function openInserts(): Promise<number> {
  const text = "select count(*)::int as count from pg_locks where locktype = 'advisory' and objid = 730203051";
  return Number((await query(server.url, text))[0]?.count);
}
