import { randomBytes, randomUUID } from "node:crypto";
import { shared } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import { type Core, type KeyRecord, mintApiKey, openCore, readConfig } from "../src/index.js";
import { openSharedDatabase } from "./database-fixture.js";
import { recordLog } from "./logs.js";

const hourMs = 3_600_000;
const limits = { perMinute: 1, perDay: 1 };

const database = await openSharedDatabase();
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
/** The clock of the cached records. It stands still, so that no record is read again because of its age. */
let monotonicMs = 0;
const deps = { log, now: () => Date.now() - behindMs, monotonicNow: () => monotonicMs };
/** Two instances of the service over one database, each with a quota of its own. */
const changing = await shared(openCore(config, deps));
const other = await shared(openCore(config, deps));

describe("a change by an operator", () => {
  it("takes effect on another instance by its notification, also after unreadable messages", async () => {
    for (const payload of ["", "{", "null", '{"kind":"account-changed","account":"1; drop table pets"}']) {
      await database.execute(`select pg_notify('petstore', '${payload}')`);
    }
    await expectChangesSeen();
  });

  it.each(["refuse", "blackHole"] as const)(
    "takes effect after 5 s while the listening connections fail (%s), and at once when they recover",
    async (fault) => {
      const outages = linesThatBegin("not listening");
      await listening[fault]();
      await expectChangesSeen(() => {
        monotonicMs += 5_001;
      });
      const { key, record } = await issueKey();
      await other.authenticator.authenticate(key, "a client");
      await changing.keys.revoke(record.id);
      await expect.poll(() => linesThatBegin("not listening")).toBe(outages + 2);
      await listening.restore();
      await expectAccess(other, key, "API_KEY_REVOKED");
      await expect.poll(() => linesThatBegin("listening for changes again")).toBe(outages + 2);
      expect(linesThatBegin("not listening")).toBe(outages + 2);
    },
  );
});

describe("a ban", () => {
  it("stays if it began after the last lift, which every look-up of the key applies again", async () => {
    const { key, record } = await issueKey();
    await liftEarlier(record, "1 minute");
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
    await liftEarlier(record, "2 hours");
    changing.authenticator.invalidateAll();
    await ban(changing, key);
    const who = { account: `${record.accountId}`, key: `${record.lineage}` };
    const { bannedUntilMs = 0, nowMs } = await changing.accountQuota.usage({ ...who, limits });
    expect(bannedUntilMs - nowMs).toBeLessThanOrEqual(60_000);
  });
});

async function issueKey() {
  const name = randomUUID();
  const account = await changing.accounts.create({ name, plan: "free" });
  const key = mintApiKey("live", randomBytes);
  const record = await changing.keys.add({ accountId: account?.id ?? 0n, text: key });
  return { key, record, name };
}

/** Each change, by the access that the key has after it. */
const changes: Readonly<Record<string, (issued: Awaited<ReturnType<typeof issueKey>>) => unknown>> = {
  API_KEY_REVOKED: ({ record }) => changing.keys.revoke(record.id),
  "business, both": ({ name }) => changing.accounts.setPlan({ name, plan: "business" }),
  "suspended, both": ({ name }) => changing.accounts.suspend(name),
  "free, read": ({ record }) => changing.keys.change(record.id, { scope: "read" }),
  "free, both, website": ({ record }) => changing.keys.change(record.id, { name: "website" }),
  "free, both, ending": ({ record }) =>
    changing.keys.rotate({ id: record.id, text: mintApiKey("live", randomBytes), graceMs: 24 * hourMs }),
  // An operator makes this one in psql.
  "pro, both": ({ name }) => database.execute(`update accounts set plan = 'pro' where name = '${name}'`),
  API_KEY_INVALID: async ({ record }) => {
    await changing.keys.revoke(record.id);
    await changing.accounts.delete(record.accountId);
  },
};

describe("a pet that an operator changes or deletes in SQL", () => {
  const settled = { limit: 1 };

  async function namesOn(core: Core): Promise<string[]> {
    const { pets, isSettled } = await core.catalogue.list(
      { accountId: 1n, scope: "both", staleCause: undefined },
      settled,
    );
    expect(isSettled).toBe(true);
    return pets.map(({ name }) => name);
  }

  it.each([
    ["changes", "update pets set name = 'Ada'", "Ada"],
    ["is deleted", "delete from pets where id = (select min(id) from pets)", "Ina"],
    [
      "is gone with all others",
      "truncate pets cascade; insert into pets (name, category_id, status) values ('Rex', 1, 'sold'), ('Ina', 1, 'sold')",
      "Rex",
    ],
  ])("%s on another instance by its notification", async (_kind, statement, expected) => {
    await database.execute(
      "truncate pets cascade; insert into pets (name, category_id, status) values ('Rex', 1, 'sold'), ('Ina', 1, 'sold'), ('Ina', 1, 'sold')",
    );
    await expect.poll(() => namesOn(other)).toEqual(["Rex"]);
    await database.execute(statement);
    await expect.poll(() => namesOn(other)).toEqual([expected]);
  });

  it("changes after 5 s if the notification is lost, and at once when the session that listens is lost", async () => {
    await database.execute(
      "insert into pets (name, category_id, status) values ('Rex', 1, 'sold'), ('Ina', 1, 'sold')",
    );
    await database.execute("alter table pets disable trigger pets_changed");
    const before = await namesOn(other);
    await database.execute("update pets set name = 'Eve'");
    expect(await namesOn(other)).toEqual(before);
    monotonicMs += 5_001;
    expect(await namesOn(other)).toEqual(["Eve"]);
    await database.execute("update pets set name = 'Ivy'");
    expect(await namesOn(other)).toEqual(["Eve"]);
    await listening.refuse();
    await expect.poll(() => namesOn(other)).toEqual(["Ivy"]);
    await listening.restore();
    await database.execute("alter table pets enable trigger pets_changed");
  });
});

/** Makes one change of each kind, lets time pass, and waits until the second instance has seen all changes. */
async function expectChangesSeen(passTime = () => {}): Promise<void> {
  const banned = await issueKey();
  const replacement = mintApiKey("live", randomBytes);
  await changing.keys.rotate({ id: banned.record.id, text: replacement, graceMs: 60_000 });
  await ban(other, replacement);
  const changed = await Promise.all(
    Object.entries(changes).map(async ([access, change]) => {
      const issued = await issueKey();
      await expectAccess(other, issued.key, "free, both");
      await change(issued);
      return { key: issued.key, access };
    }),
  );
  await changing.keys.liftBan(banned.record.id);
  passTime();
  await Promise.all(changed.map(({ key, access }) => expectAccess(other, key, access)));
  await expect.poll(() => isBanned(other, replacement)).toBe(false);
}

/**
 * Waits until a key has this plan and scope, such as `free, both`, with its name and `ending` if its end is announced, or is
 * rejected with this code.
 */
async function expectAccess(core: Core, key: string, expected: string): Promise<void> {
  const read = async () => {
    const checked = await core.authenticator.authenticate(key, "a client");
    if (checked.outcome === "rejected") return checked.problem.code;
    const { plan, scope, name, accountSuspendedAt } = checked.key;
    const state = accountSuspendedAt === undefined ? plan : "suspended";
    const end = checked.announcedExpiry === undefined ? [] : ["ending"];
    return [state, scope, ...(name === undefined ? [] : [name]), ...end].join(", ");
  };
  await expect.poll(read).toBe(expected);
}

function linesThatBegin(start: string): number {
  return logged.filter((line) => line.startsWith(start)).length;
}

/** Calls until the key is banned. A refusal in the same millisecond as the first one is no strike. */
async function ban(core: Core, key: string): Promise<void> {
  await expect.poll(() => isBanned(core, key), { interval: 2 }).toBe(true);
}

/** Lifts the ban of a key, this long before the present. */
async function liftEarlier({ id }: KeyRecord, ago: string): Promise<void> {
  await database.execute(`update api_keys set ban_lifted_at = now() - interval '${ago}' where id = ${id}`);
}

/** Authenticates first, like a request. */
async function isBanned(core: Core, key: string): Promise<boolean> {
  const checked = await core.authenticator.authenticate(key, "a client");
  if (checked.outcome === "rejected") throw checked.problem;
  const who = { account: `${checked.key.accountId}`, key: `${checked.key.lineage}` };
  return (await core.accountQuota.reserve({ ...who, limits, cost: 1 })).outcome === "banned";
}
