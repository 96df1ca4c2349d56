// After a restart or a failover, the server may lack what was read before.
import { shared } from "@petstore/harness";
import { openPostgresServer } from "@petstore/harness/postgres";
import { expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.js";
import { migrate } from "../../src/database/migrate.js";
import { watchDatabase } from "../../src/database/reachability.js";
import { limitedTo } from "../database-fixture.js";
import { silentLog } from "../logs.js";
import { openCatalogue } from "./open-catalogue.js";

const server = await shared(openPostgresServer());
await migrate(server.url);
await server.query("insert into pets (name, category_id, status) select 'Rex', n, 'sold' from generate_series(1, 9) n");

it("no page of the old server is served after a new one was noticed", async () => {
  const config = { url: server.url, poolSize: 6, ...limitedTo(5_000) };
  await using database = openDatabase(config, silentLog);
  await using reachability = await watchDatabase(config, database, silentLog);
  // The clock stands still, so no page becomes too old.
  using catalogue = openCatalogue(database, { monotonicNow: () => 0 });
  await catalogue.settledIds.first;
  await server.query("update pets set name = 'Rex'");
  const page = await catalogue.list({ limit: 2 });
  expect(await catalogue.list({ limit: 2 })).toBe(page);
  await server.kill();
  await expect.poll(() => reachability.isReachable()).toBe(false);
  // Nothing has replaced the old server. A page that was read within 5 s is still served.
  expect(await catalogue.list({ limit: 2 })).toBe(page);
  await server.restart();
  // Not noticed by a notification, because the catalogue of this test does not listen.
  await server.query("update pets set name = 'Ada'");
  await expect.poll(() => database.serverChanges()).toBe(1);
  expect((await catalogue.list({ limit: 2 })).pets).toMatchObject([{ name: "Ada" }, { name: "Ada" }]);
  expect(await catalogue.list({ limit: 2 })).toMatchObject({ isSettled: true });
});
