import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestDatabase, describeWithRedis, type TestDatabase } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { openRedisServer } from "@petstore/harness/redis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Instance, openInstance } from "./instance.js";
import { runCommand } from "./run-command.js";

let database: TestDatabase;
let environment: { DATABASE_URL: string; DATABASE_DIRECT_URL: string };
beforeEach(async () => {
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.directUrl };
  await runCommand("migrate", environment);
  await runCommand("account create shop --plan enterprise --per-minute 100 --per-day 5", environment);
});
afterEach(() => database[Symbol.asyncDispose]());

describe("with four instances under load", () => {
  it("what a command changes is true on all of them within a second", { timeout: 60_000 }, async () => {
    expect(Math.max(...(await changeUnderLoad(database.directUrl)))).toBeLessThan(1_000);
  });

  it("it is within five seconds when nobody is told", { timeout: 60_000 }, async () => {
    await using proxy = await openFaultProxy({ url: database.directUrl });
    await proxy.refuse();
    expect(Math.max(...(await changeUnderLoad(proxy.url)))).toBeLessThan(5_000);
  });
});

describe("with two instances that count for themselves", () => {
  it("usage show asks both for both windows", async () => {
    await using one = await openInstance(environment);
    await using other = await openInstance(environment);
    const { key } = await json("key issue shop");
    await one.request(key, 2);
    await other.request(key, 3);
    const { counts } = await json("usage show shop");
    expect(counts.map(({ minute, day }: Counted) => [minute.used, day.used]).sort()).toEqual([
      [2, 2],
      [3, 3],
    ]);
    expect(counts[0].day).toMatchObject({ limit: 5, resetsAt: expect.stringMatching(/T00:00:00.000Z$/) });
    const { printed } = await runCommand("usage show shop", environment);
    expect(printed).toMatch(/^window +limit +used +remaining +resetsAt +by\nminute +100 /);
  });

  it("ban list shows who is banned where, and ban lift ends it on both within a second", async () => {
    await using one = await openInstance(environment);
    await using other = await openInstance(environment);
    const { key, id } = await json("key issue shop");
    expect(await json("ban list")).toEqual([]);
    for (const instance of [one, other]) expect(await instance.request(key, 400)).toBe("banned");
    expect(await json("ban list")).toEqual([
      { account: "shop", key: id, bannedUntil: expect.any(String), by: expect.any(String) },
      { account: "shop", key: id, bannedUntil: expect.any(String), by: expect.any(String) },
    ]);
    expect(await json(`ban lift ${id}`)).toMatchObject({ id, banLiftedAt: expect.any(String) });
    await sleep(900);
    for (const instance of [one, other]) expect(await instance.request(key, 1)).toBe("refused");
    expect(await json("ban list shop")).toEqual([]);
  });

  it("a banned key stays banned under its new name, and lifting the new one's ban lifts both", async () => {
    await using one = await openInstance(environment);
    const { key, id } = await json("key issue shop");
    await one.request(key, 400);
    const rotated = await json(`key rotate ${id} --grace 1h`);
    expect(await one.request(rotated.key, 1)).toBe("banned");
    await runCommand(`ban lift ${rotated.id}`, environment);
    await sleep(900);
    for (const text of [key, rotated.key]) expect(await one.request(text, 1)).toBe("refused");
  });

  it("says which part of the truth it tells when an instance does not answer", async () => {
    await using one = await openInstance(environment);
    await using other = await openInstance(environment);
    other.signal("SIGSTOP");
    const ran = await runCommand("usage show shop --json", environment);
    expect(ran).toMatchObject({ exitCode: 0, complained: "Only 1 of 2 instances answered." });
    expect(JSON.parse(ran.printed).counts).toHaveLength(1);
    one.signal("SIGSTOP");
    expect(await runCommand("usage show shop", environment)).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("None of 2 running instances answered within 2 s"),
    });
  });
});

describeWithRedis("with two instances that share a Redis", () => {
  it("usage show and ban list tell what it counts, once", async () => {
    await using redis = await openRedisServer();
    await using one = await openInstance({ ...environment, REDIS_URL: redis.url });
    await using other = await openInstance({ ...environment, REDIS_URL: redis.url });
    const { key, id } = await json("key issue shop");
    await one.request(key, 2);
    await other.request(key, 2);
    expect(await json("usage show shop")).toMatchObject({ counts: [{ by: "Redis", day: { used: 4, remaining: 1 } }] });
    await other.request(key, 400);
    expect(await json("ban list")).toEqual([
      { account: "shop", key: id, bannedUntil: expect.any(String), by: "Redis" },
    ]);
    await runCommand(`ban lift ${id}`, environment);
    await sleep(900);
    expect(await json("ban list")).toEqual([]);
    for (const instance of [one, other]) expect(await instance.request(key, 1)).toBe("refused");
  });

  it("usage show reports the count of each instance while Redis is unavailable", async () => {
    await using redis = await openRedisServer();
    await using one = await openInstance({ ...environment, REDIS_URL: redis.url });
    const { key } = await json("key issue shop");
    await one.request(key, 2);
    await redis.kill();
    await one.request(key, 1);
    expect(await json("usage show shop")).toMatchObject({
      counts: [{ by: expect.stringContaining("without its Redis"), day: { used: 3 } }],
    });
  });
});

/** Milliseconds from the end of each command to the last answer, of any instance, that did not know of it. */
async function changeUnderLoad(listenUrl: string): Promise<number[]> {
  await using instances = instanceList();
  for (let count = 0; count < 4; count++) {
    await instances.open({ ...environment, DATABASE_DIRECT_URL: listenUrl });
  }
  const [revoked, upgraded, banned] = [await issue(), await issue(), await issue()];
  const changes = [
    { key: revoked.key, before: "admitted", command: `key revoke ${revoked.id}`, after: "API_KEY_REVOKED" },
    { key: upgraded.key, before: "refused", command: `account set-plan ${upgraded.name} business`, after: "admitted" },
    { key: banned.key, before: "banned", command: `ban lift ${banned.id}`, after: "refused" },
  ];
  // Limits that keep the load below from being banned: it takes twice as many strikes as the minute has units.
  await runCommand(`account set-limits ${upgraded.name} --per-minute 1000000 --per-day 1`, environment);
  await runCommand(`account set-limits ${banned.name} --per-minute 500 --per-day 1`, environment);
  const seenAfterMs: number[] = [];
  for (const { key, before, command, after } of changes) {
    for (const instance of instances.all) {
      while ((await instance.request(key, before === "banned" ? 2_000 : 1)) !== before) await sleep(1);
    }
    let isOver = false;
    let changedAtMs = Number.POSITIVE_INFINITY;
    let lastWrongAtMs = 0;
    const load = instances.all.map(async (instance) => {
      while (!isOver) {
        const askedAtMs = performance.now();
        const outcome = await instance.request(key, 1);
        if (outcome === before && askedAtMs > changedAtMs) lastWrongAtMs = performance.now();
        await sleep(10);
      }
    });
    expect(await runCommand(command, environment)).toMatchObject({ exitCode: 0 });
    changedAtMs = performance.now();
    await sleep(listenUrl === database.directUrl ? 1_500 : 6_000);
    isOver = true;
    await Promise.all(load);
    for (const instance of instances.all) expect(await instance.request(key, 1)).toBe(after);
    seenAfterMs.push(Math.max(0, lastWrongAtMs - changedAtMs));
  }
  process.stdout.write(`last wrong answer after ${seenAfterMs.map(Math.round).join(", ")} ms\n`);
  return seenAfterMs;
}

function instanceList() {
  const all: Instance[] = [];
  return {
    all,
    open: async (settings: Readonly<Record<string, string>>) => void all.push(await openInstance(settings)),
    [Symbol.asyncDispose]: async () => {
      for (const instance of all) await instance[Symbol.asyncDispose]();
    },
  };
}

async function issue() {
  const name = `account-${randomBytes(4).toString("hex")}`;
  await runCommand(`account create ${name} --plan enterprise --per-minute 1000000 --per-day 1000000`, environment);
  const { key, id } = await json(`key issue ${name}`);
  return { name, key, id };
}

interface Counted {
  readonly minute: { readonly used: number };
  readonly day: { readonly used: number };
}

async function json(commandLine: string) {
  const { printed, complained } = await runCommand(`${commandLine} --json`, environment);
  if (printed === "") throw new Error(complained);
  return JSON.parse(printed);
}
