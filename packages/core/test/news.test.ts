import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import type { Core } from "../src/index.js";
import { millisecondsUntil, type NewsScene, openNewsScene } from "./news-scene.js";

const limits = { perMinute: 1, perDay: 1 };
const client = "a client";

describe("a change that an operator makes", () => {
  it("is true on every instance within a second", async () => {
    await using scene = await openNewsScene();
    expect(Math.max(...Object.values(await seenWithin(scene, 5_000)))).toBeLessThan(1_000);
  });

  it("is true within 5 seconds with the notification connections cut", { timeout: 20_000 }, async () => {
    await using scene = await openNewsScene();
    await scene.listening.refuse();
    expect(Math.max(...Object.values(await seenWithin(scene, 8_000)))).toBeLessThan(5_000);
    expect(scene.logged.filter((line) => line.startsWith("not listening"))).toHaveLength(2);
  });

  it("is true once the connections are back, although nobody heard of it", { timeout: 20_000 }, async () => {
    await using scene = await openNewsScene();
    const [changing, other] = scene.instances as [Core, Core];
    const { key, record } = await scene.issueKey();
    await other.authenticator.authenticate(key, client);
    await scene.listening.refuse();
    await changing.keys.revoke(record.id);
    await scene.listening.restore();
    expect(await millisecondsUntil(3_000, () => isRevoked(other, key))).toBeLessThan(2_000);
    expect(scene.logged).toContain("listening for changes again");
  });

  it("is noticed where the connection has gone dead without a word", { timeout: 20_000 }, async () => {
    await using scene = await openNewsScene();
    await scene.issueKey();
    await scene.listening.blackHole();
    const isNoticed = async () => scene.logged.some((line) => line.startsWith("not listening"));
    expect(await millisecondsUntil(6_000, isNoticed)).toBeLessThan(5_000);
    await scene.listening.restore();
    const isBack = async () => scene.logged.includes("listening for changes again");
    expect(await millisecondsUntil(6_000, isBack)).toBeLessThan(3_000);
  });

  it("reaches them also when it was made by hand in the database", async () => {
    await using scene = await openNewsScene();
    const { key, name } = await scene.issueKey();
    const plan = async (core: Core) => {
      const checked = await core.authenticator.authenticate(key, client);
      return checked.outcome === "accepted" ? checked.key.plan : checked.problem.code;
    };
    for (const core of scene.instances) expect(await plan(core)).toBe("free");
    await execute(scene.url, `update accounts set plan = 'pro' where name = '${name}'`);
    for (const core of scene.instances) {
      expect(await millisecondsUntil(3_000, async () => (await plan(core)) === "pro")).toBeLessThan(1_000);
    }
    await execute(scene.url, `delete from accounts where name = '${name}'`);
    for (const core of scene.instances) {
      const isGone = async () => (await plan(core)) === "API_KEY_INVALID";
      expect(await millisecondsUntil(3_000, isGone)).toBeLessThan(1_000);
    }
  });

  it("is followed however much nonsense is said on the same channel", async () => {
    await using scene = await openNewsScene();
    const nonsense = [
      "",
      "{",
      "null",
      '{"kind":"account-changed","account":"1; drop table pets"}',
      '{"kind":"account-changed","account":"1","lifted":{"key":"x","atMs":1}}',
      '{"kind":"question","question":"q","ask":{"about":"usage","account":"1","limits":{"perMinute":-1,"perDay":1}}}',
      '{"__proto__":{"kind":"account-changed"}}',
    ];
    for (const payload of nonsense) await execute(scene.url, "select pg_notify('petstore', $1)", [payload]);
    expect(Math.max(...Object.values(await seenWithin(scene, 5_000)))).toBeLessThan(1_000);
  });
});

describe("a ban", () => {
  it("passes to the key that takes the banned one's place, and is lifted for both", async () => {
    await using scene = await openNewsScene();
    const [core] = scene.instances as [Core];
    const { key, record } = await scene.issueKey();
    await ban(core, key);
    const digest = Buffer.alloc(32, 7).toString("hex");
    const rotated = await core.keys.rotate({ id: record.id, digest, graceMs: 60_000 });
    const { accountId, lineage } = rotated?.replacement ?? record;
    const decide = () => core.accountQuota.reserve({ account: `${accountId}`, key: `${lineage}`, limits, cost: 1 });
    expect(await decide()).toMatchObject({ outcome: "banned" });
    await core.keys.liftBan(rotated?.replacement.id ?? 0n);
    expect(await millisecondsUntil(3_000, async () => !(await isBanned(core, key)))).toBeLessThan(1_000);
  });

  it("of after a lifting is not lifted by it again, however often the key is looked up", async () => {
    await using scene = await openNewsScene();
    const [core] = scene.instances as [Core];
    const { key, record } = await scene.issueKey();
    await ban(core, key);
    await core.keys.liftBan(record.id);
    expect(await millisecondsUntil(3_000, async () => !(await isBanned(core, key)))).toBeLessThan(1_000);
    await ban(core, key);
    core.authenticator.forgetAll();
    expect(await isBanned(core, key)).toBe(true);
  });
});

/** Makes one change of each kind through the first instance and waits until the second one has seen it. */
async function seenWithin(scene: NewsScene, limitMs: number) {
  const [changing, other] = scene.instances as [Core, Core];
  const [revoked, upgraded, banned] = [await scene.issueKey(), await scene.issueKey(), await scene.issueKey()];
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

/** As a request would find it: authenticated first. */
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
