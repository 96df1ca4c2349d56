import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase, shared } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { query } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import { type Core, type KeyRecord, migrate, mintApiKey, openCore, readConfig } from "../src/index.js";
import { recordLog } from "./logs.js";

/** Enough for a busy machine, but less than the 4 s for which an instance uses a cached record without a refresh. */
const notifiedWithinMs = 3_500;
/** The refresh takes effect within 5 s; the rest is for a busy machine. */
const refreshedWithinMs = 8_000;
const hourMs = 3_600_000;
const limits = { perMinute: 1, perDay: 1 };

const database = await shared(createTestDatabase());
await migrate(database.url);
/** For the listening connections of the instances only. */
const listening = await shared(openFaultProxy({ url: database.directUrl }));
const config = readConfig({
  DATABASE_URL: database.url,
  DATABASE_DIRECT_URL: listening.url,
  BAN_STRIKES: "1",
  BAN_STRIKES_PER_UNIT: "0",
  BAN_GRACE_MS: "0",
  BAN_EARLY_MS: "0",
});
const { log, logged } = recordLog();
/** How far the clock of the quotas is behind the true time. */
let behindMs = 0;
const deps = { log, now: () => Date.now() - behindMs };
/** Two instances of the service over one database, each with a quota of its own. */
const changing = await shared(openCore(config, deps));
const other = await shared(openCore(config, deps));

interface IssuedKey {
  readonly key: string;
  readonly record: KeyRecord;
  readonly name: string;
}

describe("a change by an operator", () => {
  it("takes effect on every instance by its notification, also after unreadable messages", async () => {
    for (const payload of ["", "{", "null", '{"kind":"account-changed","account":"1; drop table pets"}']) {
      await query(database.directUrl, `select pg_notify('petstore', '${payload}')`);
    }
    await expectChangesSeen(notifiedWithinMs);
  });

  it("takes effect by a refresh while the listening connections are cut, and at once when they recover", async () => {
    await listening.refuse();
    await expectChangesSeen(refreshedWithinMs);
    const { key, record } = await issueKey();
    await other.authenticator.authenticate(key, "a client");
    await changing.keys.revoke(record.id);
    await listening.restore();
    await expectAccess(notifiedWithinMs, other, key, "API_KEY_REVOKED");
    await expect.poll(() => linesThatBegin("listening for changes again")).toBe(2);
    expect(linesThatBegin("not listening")).toBe(2);
  });

  it("does not depend on a listening connection that died silently: the instance opens a new one", async () => {
    const outages = linesThatBegin("not listening");
    await listening.blackHole();
    await expect.poll(() => linesThatBegin("not listening")).toBe(outages + 2);
    await listening.restore();
    await expect.poll(() => linesThatBegin("listening for changes again")).toBe(outages + 2);
  });

  it("takes effect on every instance when it is made in psql", async () => {
    const { key, name } = await issueKey();
    for (const [sql, access] of [
      ["select from accounts", "free, both"],
      ["update accounts set plan = 'pro'", "pro, both"],
      ["update accounts set suspended_at = now()", "suspended, both"],
      ["update accounts set suspended_at = null", "pro, both"],
      ["delete from accounts", "API_KEY_INVALID"],
    ] as const) {
      await query(database.directUrl, `${sql} where name = '${name}'`);
      for (const core of [changing, other]) await expectAccess(notifiedWithinMs, core, key, access);
    }
  });
});

describe("a ban", () => {
  it("applies to the replacement of the banned key, and is lifted for both keys", async () => {
    const { key, record } = await issueKey();
    await ban(changing, key);
    const secret = mintApiKey("live", randomBytes);
    const rotated = await changing.keys.rotate({ id: record.id, text: secret, graceMs: 60_000 });
    expect(await isBanned(changing, secret)).toBe(true);
    await changing.keys.liftBan(rotated?.replacement.id ?? 0n);
    await expectWithin(notifiedWithinMs, async () => !(await isBanned(changing, key)));
  });

  it("stays if it began after the last lift, which every look-up of the key applies again", async () => {
    const { key, record } = await issueKey();
    await ban(changing, key);
    await changing.keys.liftBan(record.id);
    changing.authenticator.invalidateAll();
    expect(await isBanned(changing, key)).toBe(false);
    for (const core of [changing, other]) {
      await ban(core, key);
      core.authenticator.invalidateAll();
      expect(await isBanned(core, key)).toBe(true);
    }
  });

  it("does not lengthen the next ban if it was lifted, also when the key is not used for hours after", async () => {
    const { key, record } = await issueKey();
    behindMs = 3 * hourMs;
    await ban(changing, key);
    behindMs = 0;
    await query(
      database.directUrl,
      `update api_keys set ban_lifted_at = now() - interval '2 hours' where id = ${record.id}`,
    );
    changing.authenticator.invalidateAll();
    await ban(changing, key);
    const who = { account: `${record.accountId}`, key: `${record.lineage}` };
    const { bannedUntilMs = 0, nowMs } = await changing.accountQuota.usage({ ...who, limits });
    expect(bannedUntilMs - nowMs).toBeLessThanOrEqual(60_000);
  });
});

async function issueKey(): Promise<IssuedKey> {
  const name = randomUUID();
  const account = await changing.accounts.create({ name, plan: "free" });
  const key = mintApiKey("live", randomBytes);
  const record = await changing.keys.add({ accountId: account?.id ?? 0n, text: key });
  return { key, record, name };
}

/** Makes one change of each kind through the first instance and waits until the second one has seen it. */
async function expectChangesSeen(limitMs: number): Promise<void> {
  const banned = await issueKey();
  await ban(other, banned.key);
  const changes: readonly (readonly [change: (issued: IssuedKey) => Promise<unknown>, access: string])[] = [
    [({ record }) => changing.keys.revoke(record.id), "API_KEY_REVOKED"],
    [({ name }) => changing.accounts.setPlan({ name, plan: "business" }), "business, both"],
    [({ name }) => changing.accounts.suspend(name), "suspended, both"],
    [({ record }) => changing.keys.change(record.id, { scope: "read" }), "free, read"],
  ];
  await Promise.all(
    changes.map(async ([change, access]) => {
      const issued = await issueKey();
      await expectAccess(limitMs, other, issued.key, "free, both");
      await change(issued);
      await expectAccess(limitMs, other, issued.key, access);
    }),
  );
  await changing.keys.liftBan(banned.record.id);
  await expectWithin(limitMs, async () => !(await isBanned(other, banned.key)));
}

async function expectWithin(limitMs: number, holds: () => Promise<boolean>): Promise<void> {
  await expect.poll(holds, { timeout: limitMs, interval: 10 }).toBe(true);
}

/** Compares the plan and the scope of a key, such as `free, both`, or the code of its rejection. */
async function expectAccess(limitMs: number, core: Core, key: string, expected: string): Promise<void> {
  await expectWithin(limitMs, async () => {
    const checked = await core.authenticator.authenticate(key, "a client");
    if (checked.outcome === "rejected") return checked.problem.code === expected;
    const { plan, scope, accountSuspendedAt } = checked.key;
    return `${accountSuspendedAt === undefined ? plan : "suspended"}, ${scope}` === expected;
  });
}

function linesThatBegin(start: string): number {
  return logged.filter((line) => line.startsWith(start)).length;
}

async function ban(core: Core, key: string): Promise<void> {
  for (let request = 0; request < 10; request++) {
    if (await isBanned(core, key)) return;
    // A refusal in the same millisecond as the first one is no strike.
    await sleep(2);
  }
  throw new Error("ten requests beyond the limit were not banned");
}

/** Authenticates first, like a request. */
async function isBanned(core: Core, key: string): Promise<boolean> {
  const checked = await core.authenticator.authenticate(key, "a client");
  if (checked.outcome === "rejected") throw checked.problem;
  const who = { account: `${checked.key.accountId}`, key: `${checked.key.lineage}` };
  return (await core.accountQuota.reserve({ ...who, limits, cost: 1 })).outcome === "banned";
}
