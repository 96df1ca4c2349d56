// The last release and this version, on one PostgreSQL and one Redis.
// @module-tag redis-server
// @module-tag git
// @module-tag tar
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { mintApiKey } from "@petstore/core";
import { createTestDatabase } from "@petstore/harness";
import { query } from "@petstore/harness/postgres";
import { apis } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { checkAdmitted } from "../environment/measures.js";
import { isAcknowledged, isCreate, isUnserved, slowestMs } from "../environment/results.js";
import { faultless } from "../environment/services.js";
import { checkWalks, startWalkers } from "../lists/walkers.js";
import { openLastRelease } from "./last-release.js";
import { graceMs, replaceEach, startBalancers } from "./replace.js";

it("rolling-upgrade: both releases share quotas exactly, and walks get each pet that the previous one creates", async ({
  environment,
  figures,
  skip,
}) => {
  const release = await openLastRelease(skip);
  const instances = [...release.apis, ...apis].map((api) => ({ api }));
  await environment.startWithRedis(faultless, instances);
  const upgraded = environment.services.filter(({ api }) => apis.includes(api));
  const walkers = await startWalkers(environment, { targets: upgraded, walkers: 1, limit: 50, pauseMs: 100 });
  const load = await environment.startLoad({ clients: 32, pauseMs: 0, requests: 10_000 });
  await checkAdmitted(environment, figures, { accounts: 10, limit: 1_000, clients: 64, requests: 3_000 });
  await walkers.stop();
  figures.count(0, "answers other than 200 and 201", load.results, isUnserved);
  checkWalks(figures, walkers);
});

/**
 * The database is that of a store of the last release. `petstore migrate` of this version runs under load, and is not undone.
 * On the way back somebody may run `petstore migrate` of the last release again. Version 1.1.0 then fails, because Kysely's
 * migrator must know every migration that has run. In any release, it must change nothing.
 */
it("rolling-upgrade: a migration, the upgrade of each instance and the way back lose no request and no pet", {
  tags: ["haproxy"],
}, async ({ environment, figures, skip }) => {
  const release = await openLastRelease(skip);
  const { url, directUrl } = environment.use(await createTestDatabase());
  await release.migrate(url);
  const apiKey = await issueFirstKey(directUrl);
  const settings = { DATABASE_URL: url, QUOTA_INSTANCES: "4", SHUTDOWN_GRACE_MS: `${graceMs}` };
  await environment.startWithRedis({ ...faultless, ...settings }, []);
  const previous = await environment.startMore([...release.apis, ...release.apis].map((api) => ({ api })));
  const balancers = await startBalancers(environment, previous);
  const load = await environment.startLoad({ targets: balancers, apiKey, clients: 32, pauseMs: 5 });
  const { results } = load;
  const serveMore = async (): Promise<void> => {
    const enough = results.length + 2_000;
    while (results.length < enough) await sleep(100);
  };

  await serveMore();
  await environment.useDatabase(url);
  await serveMore();
  const beforeUpgrade = results.length;
  const upgraded = await replaceEach(environment, previous, { balancers, successors: apis });
  const afterUpgrade = results.length;
  await serveMore();
  const beforeReturn = results.length;
  const returned = await replaceEach(environment, upgraded.services, { balancers, successors: release.apis });
  const afterReturn = results.length;
  const migrations = await migrationsOf(directUrl);
  await release.migrate(url).catch(() => {});
  await serveMore();
  await load.stop();

  figures.atLeast(1_000, "requests during the upgrade", afterUpgrade - beforeUpgrade);
  figures.atLeast(1_000, "requests during the way back", afterReturn - beforeReturn);
  figures.count(0, "answers other than 200 and 201", results, isUnserved);
  figures.count(0, "creates that are not acknowledged", results.filter(isCreate), (one) => !isAcknowledged(one));
  figures.atMost(5_000, "the slowest answer", slowestMs(results), "ms");
  figures.atMost(graceMs + 2_500, "the slowest stop", Math.max(upgraded.slowestStopMs, returned.slowestStopMs), "ms");
  const changed = migrations !== (await migrationsOf(directUrl));
  figures.exactly(0, "changes of the migrations by the last release", changed ? 1 : 0);
  const [counted] = await query(directUrl, "select count(*)::int as pets from pets");
  const [rest] = returned.services.filter(({ api }) => api.name === "rest");
  const client = release.createPetStoreClient({ baseUrl: `${rest?.origin}/v1`, apiKey });
  let listed = 0;
  for await (const { pets } of client.pets.pages()) listed += pets.length;
  figures.exactly(Number(counted?.pets), "pets that the last release lists after the way back", listed);
});

/** The names of the migrations that have run. */
async function migrationsOf(url: string): Promise<string> {
  const rows = await query(url, "select name from kysely_migration order by name");
  return rows.map(({ name }) => name).join();
}

/** Into a database of any release: with the columns of the first migration. */
async function issueFirstKey(url: string): Promise<string> {
  const key = mintApiKey("live", randomBytes);
  const digest = createHash("sha256").update(key).digest("hex");
  await query(
    url,
    `with account as (
       insert into accounts (name, plan, minute_limit, day_limit)
       values ('first', 'enterprise', 1000000000, 1000000000) returning id
     )
     insert into api_keys (account_id, digest) select id, '\\x${digest}' from account`,
  );
  return key;
}
