import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import type { Core } from "../src/index.js";
import { type ChangeEventsFixture, millisecondsUntil, openChangeEventsFixture } from "./change-events-fixture.js";

const limits = { perMinute: 1, perDay: 1 };
const client = "a client";

describe("a change by an operator", () => {
  it("takes effect on every instance within a second", async () => {
    await using fixture = await openChangeEventsFixture();
    expect(Math.max(...Object.values(await seenWithin(fixture, 5_000)))).toBeLessThan(1_000);
  });

  it("takes effect within 5 seconds while the listening connections are cut", { timeout: 20_000 }, async () => {
    await using fixture = await openChangeEventsFixture();
    await fixture.listening.refuse();
    expect(Math.max(...Object.values(await seenWithin(fixture, 8_000)))).toBeLessThan(5_000);
    expect(fixture.logged.filter((line) => line.startsWith("not listening"))).toHaveLength(2);
  });

  it("takes effect after the listening connections recover, although its event was lost", {
    timeout: 20_000,
  }, async () => {
    await using fixture = await openChangeEventsFixture();
    const [changing, other] = fixture.instances as [Core, Core];
    const { key, record } = await fixture.issueKey();
    await other.authenticator.authenticate(key, client);
    await fixture.listening.refuse();
    await changing.keys.revoke(record.id);
    const reports = () => fixture.logged.filter((line) => line.startsWith("not listening"));
    await expect.poll(reports, { timeout: 5_000 }).toHaveLength(2);
    await fixture.listening.restore();
    expect(await millisecondsUntil(3_000, () => isRevoked(other, key))).toBeLessThan(2_000);
    expect(fixture.logged).toContain("listening for changes again");
  });

  it("does not depend on a listening connection that died silently: the instance opens a new one", {
    timeout: 20_000,
  }, async () => {
    await using fixture = await openChangeEventsFixture();
    await fixture.issueKey();
    await fixture.listening.blackHole();
    const isReported = async () => fixture.logged.some((line) => line.startsWith("not listening"));
    expect(await millisecondsUntil(6_000, isReported)).toBeLessThan(5_000);
    await fixture.listening.restore();
    const hasRecovered = async () => fixture.logged.includes("listening for changes again");
    expect(await millisecondsUntil(6_000, hasRecovered)).toBeLessThan(3_000);
  });

  it("takes effect on every instance when it is made in psql", async () => {
    await using fixture = await openChangeEventsFixture();
    const { key, name } = await fixture.issueKey();
    const plan = async (core: Core) => {
      const checked = await core.authenticator.authenticate(key, client);
      return checked.outcome === "accepted" ? checked.key.plan : checked.problem.code;
    };
    for (const core of fixture.instances) expect(await plan(core)).toBe("free");
    await execute(fixture.url, `update accounts set plan = 'pro' where name = '${name}'`);
    for (const core of fixture.instances) {
      expect(await millisecondsUntil(3_000, async () => (await plan(core)) === "pro")).toBeLessThan(1_000);
    }
    await execute(fixture.url, `delete from accounts where name = '${name}'`);
    for (const core of fixture.instances) {
      const isGone = async () => (await plan(core)) === "API_KEY_INVALID";
      expect(await millisecondsUntil(3_000, isGone)).toBeLessThan(1_000);
    }
  });

  it("takes effect after unreadable messages on the same channel", async () => {
    await using fixture = await openChangeEventsFixture();
    const unreadable = [
      "",
      "{",
      "null",
      '{"kind":"account-changed","account":"1; drop table pets"}',
      '{"kind":"account-changed","account":"1","lifted":{"key":"x","atMs":1}}',
      '{"kind":"question","question":"q","ask":{"about":"usage","account":"1","limits":{"perMinute":-1,"perDay":1}}}',
      '{"__proto__":{"kind":"account-changed"}}',
    ];
    for (const payload of unreadable) await execute(fixture.url, "select pg_notify('petstore', $1)", [payload]);
    expect(Math.max(...Object.values(await seenWithin(fixture, 5_000)))).toBeLessThan(1_000);
  });
});

describe("a ban", () => {
  it("applies to the replacement of the banned key, and is lifted for both keys", async () => {
    await using fixture = await openChangeEventsFixture();
    const [core] = fixture.instances as [Core];
    const { key, record } = await fixture.issueKey();
    await ban(core, key);
    const digest = Buffer.alloc(32, 7).toString("hex");
    const rotated = await core.keys.rotate({ id: record.id, digest, graceMs: 60_000 });
    const { accountId, lineage } = rotated?.replacement ?? record;
    const decide = () => core.accountQuota.reserve({ account: `${accountId}`, key: `${lineage}`, limits, cost: 1 });
    expect(await decide()).toMatchObject({ outcome: "banned" });
    await core.keys.liftBan(rotated?.replacement.id ?? 0n);
    expect(await millisecondsUntil(3_000, async () => !(await isBanned(core, key)))).toBeLessThan(1_000);
  });

  it("that begins after a lifting is not lifted again when the key is looked up", async () => {
    await using fixture = await openChangeEventsFixture();
    const [core] = fixture.instances as [Core];
    const { key, record } = await fixture.issueKey();
    await ban(core, key);
    await core.keys.liftBan(record.id);
    expect(await millisecondsUntil(3_000, async () => !(await isBanned(core, key)))).toBeLessThan(1_000);
    await ban(core, key);
    core.authenticator.invalidateAll();
    expect(await isBanned(core, key)).toBe(true);
  });
});

/** Makes one change of each kind through the first instance and waits until the second one has seen it. */
async function seenWithin(fixture: ChangeEventsFixture, limitMs: number) {
  const [changing, other] = fixture.instances as [Core, Core];
  const [revoked, upgraded, banned] = [await fixture.issueKey(), await fixture.issueKey(), await fixture.issueKey()];
  for (const { key } of [revoked, upgraded]) await other.authenticator.authenticate(key, client);
  await ban(other, banned.key);
  await changing.keys.revoke(revoked.record.id);
  await changing.accounts.setPlan({ name: upgraded.name, plan: "business" });
  await changing.keys.liftBan(banned.record.id);
  const [revocation, plan, lifting] = await Promise.all([
    millisecondsUntil(limitMs, () => isRevoked(other, revoked.key)),
    millisecondsUntil(limitMs, async () => {
      const checked = await other.authenticator.authenticate(upgraded.key, client);
      return checked.outcome === "accepted" && checked.key.plan === "business";
    }),
    millisecondsUntil(limitMs, async () => !(await isBanned(other, banned.key))),
  ]);
  process.stdout.write(
    `seen after: revocation ${revocation.toFixed()} ms, plan ${plan.toFixed()} ms, lifting ${lifting.toFixed()} ms\n`,
  );
  return { revocation, plan, lifting };
}

async function isRevoked(core: Core, key: string): Promise<boolean> {
  const checked = await core.authenticator.authenticate(key, client);
  return checked.outcome === "rejected" && checked.problem.code === "API_KEY_REVOKED";
}

/** Authenticates first, like a request. */
async function isBanned(core: Core, key: string): Promise<boolean> {
  return (await decide(core, key)).outcome === "banned";
}

async function ban(core: Core, key: string): Promise<void> {
  for (let request = 0; request < 10; request++) {
    if (await isBanned(core, key)) return;
    // A refusal in the same millisecond as the first one is no strike.
    await sleep(2);
  }
  throw new Error("ten requests beyond the limit were not banned");
}

async function decide(core: Core, key: string) {
  const checked = await core.authenticator.authenticate(key, client);
  if (checked.outcome === "rejected") throw checked.problem;
  const { accountId, lineage } = checked.key;
  return core.accountQuota.reserve({ account: `${accountId}`, key: `${lineage}`, limits, cost: 1 });
}

async function execute(url: string, text: string, values: readonly string[] = []): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(text, [...values]);
  await client.end();
}
