import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "@petstore/core";
import { nowMs } from "@petstore/harness/network";
import { openSession, query, type Session } from "@petstore/harness/postgres";
import { inject } from "vitest";
import { rest } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { median, medianP99 } from "../environment/measures.js";
import { endOf, isAcknowledged, type Result, slowestMs } from "../environment/results.js";
import { faultless } from "../environment/services.js";

const { rows = "200000" } = inject("projectOptions") ?? {};
const clients = 8;
const phaseMs = 15_000;
/** A larger table is swept for longer than creates are measured. */
const measuredAtMostMs = 60_000;
const rowsAtOnce = 100_000;
/** As in packages/core/src/pets/idempotency.ts. */
const sweepLock = 7_302_030_513;
const lastMigration = "0008-pets-of-idempotency-keys";
const blockedAtMostMs = 200;
/** On a busy machine, whose processors the sweep and the build share with the creates. */
const timesControl = 3;
const createsAtLeast = 0.5;

it("large-table: neither the deletion of old idempotency keys nor a migration of their table holds up a create", async ({
  environment,
  figures,
}) => {
  const server = await environment.openPostgres();
  const { database } = environment;
  await using otherInstance = await openSession(server.url);
  // Until this session unlocks it, no instance deletes.
  await otherInstance.query(`select pg_advisory_lock(${sweepLock})`);
  await fill(server.administratorUrl, Number(rows));
  const [instance] = await environment.startServices(faultless, [{ api: rest }, { api: rest }]);
  await query(
    server.url,
    `drop index idempotency_keys_pet_id; delete from kysely_migration where name = '${lastMigration}'`,
  );

  const creates = await environment.startCreates({ clients, target: () => instance });
  const startedAtMs = nowMs();
  await sleep(phaseMs);
  const migratingAtMs = nowMs();
  await using observer = await openSession(server.administratorUrl);
  let isMigrating = true;
  const migrating = migrate(server.url).finally(() => {
    isMigrating = false;
  });
  const [longestWaitMs] = await Promise.all([longestWaitForLock(observer, () => isMigrating), migrating]);
  const migratedAtMs = nowMs();
  await sleep(1_000);

  await otherInstance.query(`select pg_advisory_unlock(${sweepLock})`);
  const isStored = async (key: "oldest" | "youngest") => (await database.execute(selectOld(key))).length > 0;
  while (await isStored("oldest")) await sleep(100);
  const sweptFromMs = nowMs();
  let measuredToMs: number | undefined;
  while (await isStored("youngest")) {
    if (measuredToMs === undefined && nowMs() - sweptFromMs > measuredAtMostMs) {
      measuredToMs = nowMs();
      await creates.stop();
    }
    await sleep(100);
  }
  const sweptToMs = nowMs();
  await creates.stop();

  const acknowledged = creates.results.filter(isAcknowledged);
  const without = speedOf(acknowledged, startedAtMs, migratingAtMs);
  const beside = speedOf(acknowledged, sweptFromMs, measuredToMs ?? sweptToMs);
  const during = acknowledged.filter((one) => endOf(one) > migratingAtMs && one.sentAtMs < migratedAtMs);
  const seconds = (sweptToMs - sweptFromMs) / 1_000;
  figures.atMost(
    Math.max(blockedAtMostMs, timesControl * without.slowestMs),
    `the slowest of ${during.length} creates during the migration of ${rows} rows (without it ${without.slowestMs} ms)`,
    slowestMs(during),
    "ms",
  );
  figures.atMost(blockedAtMostMs, "the longest wait of a create for a lock during the migration", longestWaitMs, "ms");
  figures.atLeast(0, "duration of the migration", (migratedAtMs - migratingAtMs) / 1_000, "s");
  figures.atLeast(1_000, `rows deleted per second, in ${Math.round(seconds)} s`, Number(rows) / seconds);
  const what = (name: string, value: number) => `${name} beside the deletion, times the one without it (${value})`;
  figures.atLeast(createsAtLeast, what("creates per second", without.perSecond), beside.perSecond / without.perSecond);
  figures.atMost(timesControl, what("median create in ms", without.medianMs), beside.medianMs / without.medianMs);
  figures.atMost(
    timesControl,
    what("p99 of a create in ms, of the median second,", without.p99Ms),
    beside.p99Ms / without.p99Ms,
  );
  const [left] = (await database.execute(countKeys)) as [{ readonly old: number; readonly young: number }];
  figures.exactly(0, "old keys that are left", left.old);
  const created = new Set(acknowledged.map(({ acknowledgedPet }) => acknowledgedPet)).size;
  figures.atLeast(created, "young keys that are left", left.young);
  const deletingAtMs = performance.now();
  await query(server.url, "delete from pets where id = 1");
  figures.atMost(1_000, "the deletion of a pet in SQL", performance.now() - deletingAtMs, "ms");
});

const selectOld = (key: string) => `
  select from idempotency_keys
  where account_id = (select id from accounts where name = 'an account of before') and key = '${key}'`;

const countKeys = `
  select count(*) filter (where is_old)::integer as old, count(*) filter (where not is_old)::integer as young
  from (select created_at < now() - interval '24 hours' as is_old from idempotency_keys) as keys`;

/** Stores pets with their keys, all older than 24 hours. */
async function fill(administratorUrl: string, total: number): Promise<void> {
  await using session = await openSession(administratorUrl);
  // No check of a foreign key, and no trigger: they would take most of the time.
  await session.query("set session_replication_role = replica");
  await session.query("insert into accounts (name, plan) values ('an account of before', 'free')");
  for (let stored = 0; stored < total; stored += rowsAtOnce) {
    await session.query(`
      with numbers as (
        select number from generate_series(${stored + 1}, ${Math.min(stored + rowsAtOnce, total)}) number
      ),
      stored as (
        insert into pets (id, name, category_id, status) overriding system value
        select number, 'from before', 1, 'sold' from numbers
      )
      insert into idempotency_keys (account_id, key, request_digest, pet_id, created_at)
      select (select id from accounts where name = 'an account of before'),
        case number when 1 then 'oldest' when ${total} then 'youngest' else gen_random_uuid()::text end,
        decode(repeat('ab', 32), 'hex'), number, now() - interval '48 hours' + number * interval '20 hours' / ${total}
      from numbers`);
  }
  await session.query(`select setval(pg_get_serial_sequence('pets', 'id'), ${total})`);
  await session.query("vacuum analyze pets, idempotency_keys");
  // Otherwise the first creates would share the disk with it.
  await session.query("checkpoint");
}

/** How long a create has waited for a lock. Looks every few milliseconds while this goes on. */
async function longestWaitForLock(observer: Session, goesOn: () => boolean): Promise<number> {
  let longestMs = 0;
  while (goesOn()) {
    const [row] = (await observer.query(selectLongestWait)) as [{ readonly ms: number }];
    longestMs = Math.max(longestMs, row.ms);
    await sleep(5);
  }
  return longestMs;
}

const selectLongestWait = `
  select coalesce(max(extract(epoch from clock_timestamp() - waitstart) * 1000), 0)::float8 as ms
  from pg_locks join pg_stat_activity using (pid)
  where not granted and query like '%insert into "pets"%'`;

function speedOf(results: readonly Result[], fromMs: number, toMs: number) {
  const sent = results.filter((one) => one.sentAtMs >= fromMs && endOf(one) < toMs);
  const toTenths = (durationMs: number) => Math.round(durationMs * 10) / 10;
  return {
    perSecond: Math.round((sent.length / (toMs - fromMs)) * 1_000),
    medianMs: toTenths(median(sent.map(({ durationMs }) => durationMs))),
    p99Ms: toTenths(medianP99(sent)),
    slowestMs: Math.round(slowestMs(sent)),
  };
}
