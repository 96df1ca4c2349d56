import { setTimeout as sleep } from "node:timers/promises";
import type { StoreDatabase } from "@petstore/test-store/store-database";
import { graphql, graphqlCall, rest } from "../environment/apis.js";
import { it } from "../environment/environment.js";

/** PostgreSQL needs this long for each insert. */
const insertSeconds = 0.4;
/** The key is revoked while the first creates run, and others wait. */
const revokedAfterMs = 600;
/** An instance knows a revocation after this time. */
const revokedWithinMs = 1_000;
/** The default of the service: a create waits this long for a connection. */
const acquireTimeoutMs = 1_000;
/** The mutation would take 4 s. */
const rootFields = 10;
/** More than the pool has connections, so that some wait. */
const restCreates = 40;

it("revoked-mutation: begins no create more than 1 s after the revocation of its key", async ({
  environment,
  figures,
}) => {
  const { database } = environment;
  const service = await environment.startService({}, { api: graphql });
  await slowInserts(database);
  const fields = Array.from(
    { length: rootFields },
    (_, n) => `f${n}: createPet(input: {name: "Ada", categoryId: 1}) { id }`,
  );
  const call = () => graphqlCall(JSON.stringify({ query: `mutation { ${fields.join(" ")} }` }));
  const send = (apiKey: string) =>
    environment.startLoad({ targets: [service], clients: 1, pauseMs: 0, requests: 1, call, apiKey });

  const { key, keyId } = await database.issueKey();
  const done = send(key);
  await sleep(revokedAfterMs);
  await revoke(database, keyId);
  const { results } = await done;
  const begun = await creates(database);
  figures.count(1, "answers with API_KEY_REVOKED", results, ({ text }) => text.includes("API_KEY_REVOKED"));
  figures.atLeast(1, "creates before the revocation", begun.filter((ms) => ms < 0).length);
  figures.atMost(revokedWithinMs, "the last create begins after", Math.max(...begun), "ms");

  await database.execute("truncate begun");
  const [control] = (await send((await database.issueKey()).key)).results;
  figures.atLeast(
    (rootFields - 1) * insertSeconds * 1_000,
    "a mutation that is not revoked takes",
    control?.durationMs ?? 0,
    "ms",
  );
});

it("revoked-queue: begins no create that waits for a connection more than 2 s after the revocation", async ({
  environment,
  figures,
}) => {
  // The creates that find no connection in time get 503.
  environment.allowFailures();
  const { database } = environment;
  const service = await environment.startService({}, { api: rest });
  await slowInserts(database);
  const { key, keyId } = await database.issueKey();
  const call = (_api: unknown, request: number) => rest.create("Ada", `create ${request}`);
  const options = { targets: [service], clients: restCreates, pauseMs: 0, call, apiKey: key };
  const load = await environment.startLoad(options);
  await sleep(revokedAfterMs);
  await revoke(database, keyId);
  await sleep(revokedWithinMs + acquireTimeoutMs + 1_000);
  await load.stop();
  const begun = await creates(database);
  figures.atLeast(1, "creates before the revocation", begun.filter((ms) => ms < 0).length);
  figures.atMost(revokedWithinMs + acquireTimeoutMs, "the last create begins after", Math.max(...begun), "ms");
});

/** From now on each insert notes its beginning, and then takes `insertSeconds`. */
async function slowInserts(database: StoreDatabase): Promise<void> {
  await database.execute("create table begun (at timestamptz)");
  await database.execute(`
    create function begin_slowly() returns trigger language plpgsql as $$ begin
      insert into begun values (clock_timestamp());
      perform pg_sleep(${insertSeconds});
      return new;
    end $$`);
  await database.execute("create trigger slow before insert on pets for each row execute function begin_slowly()");
}

async function revoke(database: StoreDatabase, keyId: bigint): Promise<void> {
  await database.execute(`update api_keys set revoked_at = clock_timestamp() where id = ${keyId}`);
}

/** When each create began, in milliseconds after the revocation. */
async function creates(database: StoreDatabase): Promise<number[]> {
  const rows = await database.execute(`
    select (extract(epoch from at - (select max(revoked_at) from api_keys)) * 1000)::float8 as ms from begun`);
  return (rows as { readonly ms: number }[]).map(({ ms }) => ms);
}
