import { type Core, changeChannel, type Decision, responseChannel, subscriberName } from "@petstore/core";
import { describeWithRedis } from "@petstore/harness";
import { openSession } from "@petstore/harness/postgres";
import { startService } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { openInstance, useDatabase } from "./run-command.js";

const restMain = new URL(import.meta.resolve("@petstore/rest/main"));
const limits = { perMinute: 100, perDay: 5 };
const shop = "account create shop --plan enterprise --per-minute 100 --per-day 5";
const { environment, json, petstore } = await useDatabase("migrate", shop);
/** The second strike of a key bans it. */
const bansSoon = { BAN_STRIKES: "2", BAN_STRIKES_PER_UNIT: "0", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0" };

it("usage show says how many instances did not answer", async () => {
  // It counts as an instance because of its name.
  await using silent = await openSession(environment.DATABASE_DIRECT_URL);
  await silent.query(`set application_name = '${subscriberName}'`);
  expect(await petstore("usage show shop")).toMatchObject({
    exitCode: 1,
    complained: expect.stringContaining("None of 1 running instances answered within 2 s"),
  });
  await using _instance = await openInstance(environment);
  const ran = await petstore("usage show shop --json");
  expect(ran).toMatchObject({ exitCode: 0, complained: "Only 1 of 2 instances answered." });
  expect(JSON.parse(ran.printed).counts).toHaveLength(1);
});

it("usage show asks instances that count for themselves, also if a URL names the connections of one", async () => {
  await using service = await startService({ main: restMain, environment });
  const named = new URL(environment.DATABASE_DIRECT_URL);
  named.searchParams.set("application_name", "shop");
  await using other = await openInstance({ ...environment, DATABASE_DIRECT_URL: named.href });
  const { key } = await json("key issue shop");
  await fetch(`${service.origin}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  await spend(other, 3);
  const { counts } = await json("usage show shop");
  const day = { limit: 5, resetsAt: expect.stringMatching(/T00:00:00.000Z$/) };
  const countOf = (used: number) =>
    expect.objectContaining({
      // The minute may have ended since the requests.
      minute: expect.objectContaining({ limit: 100, used: expect.toBeOneOf([used, 0]) }),
      day: expect.objectContaining({ ...day, used }),
    });
  expect(counts).toHaveLength(2);
  expect(counts).toEqual(expect.arrayContaining([countOf(1), countOf(3)]));
  const { printed } = await petstore("usage show shop");
  expect(printed).toMatch(/^window +limit +used +remaining +resetsAt +counted by\nminute +100 /);
});

describe("the bans of an instance that counts for itself", async () => {
  const { environment, json, petstore } = await useDatabase("migrate", shop, "account create kennel");
  const settings = { ...environment, ...bansSoon };
  const issue = async (name: string): Promise<string> => (await json(`key issue shop --name ${name}`)).id;
  const [orders, website, stock] = [await issue("orders"), await issue("website"), await issue("stock")];

  it("are shown by ban list, key list and usage show until the lift, and so is a later ban", async () => {
    await using instance = await openInstance(settings);
    const bannedUntil = await ban(instance, orders);
    // A refusal in the same millisecond as the first one is no strike.
    const strikesOfWebsite = async () => {
      await call(instance, website);
      return (await json("key list shop"))[1].strikes;
    };
    await expect.poll(strikesOfWebsite).toBe(1);
    const { id: rotated } = await json(`key rotate ${orders} --grace 1h`);
    const by = expect.stringMatching(/:\d+$/);
    const listed = { account: "shop", key: rotated, name: "orders", rotatedFrom: orders, bannedUntil, by };
    expect(await json("ban list")).toEqual([expect.objectContaining(listed)]);
    expect(await json("ban list kennel")).toEqual([]);
    expect((await petstore("ban list shop")).printed).toMatch(/^account +key +name .* bannedUntil +counted by\nshop /);
    expect(await json("key list shop")).toMatchObject([
      { id: orders, bannedUntil, strikes: 0 },
      { id: website, strikes: 1 },
      { id: stock, strikes: 0 },
      { id: rotated, bannedUntil },
    ]);
    const { penalties } = await json("usage show shop");
    const ofOrders = { key: rotated, name: "orders", bannedUntil, strikes: 0, strikesThatBan: 2, by };
    const ofWebsite = { key: website, name: "website", strikes: 1, strikesThatBan: 2, by };
    expect(penalties).toHaveLength(2);
    expect(penalties).toEqual(expect.arrayContaining([ofOrders, ofWebsite]));

    expect(await petstore(`ban lift ${rotated}`)).toMatchObject({ exitCode: 0, complained: "" });
    expect((await petstore("ban list")).printed).toBe("none");
    expect(await json("key list shop")).not.toContainEqual(expect.objectContaining({ bannedUntil }));
    // As an instance does when it reads the record of the key.
    await instance.accountQuota.liftBan({ account: "1", key: orders, liftedAgoMs: 0 });
    const later = await ban(instance, orders);
    expect(await json("ban list")).toMatchObject([{ key: rotated, bannedUntil: later }]);
  });

  it("can be lifted only while there is one: otherwise the command says so, and changes and logs nothing", async () => {
    await using _instance = await openInstance(settings);
    const changes = await json("audit");
    expect(await petstore(`ban lift ${stock}`)).toEqual({
      exitCode: 0,
      printed: expect.not.stringContaining("banLiftedAt"),
      complained: `Key ${stock} is not banned: nothing was changed.`,
    });
    expect(await json("audit")).toEqual(changes);
  });

  it("can be lifted if an instance does not say whether there is one", async () => {
    await using _instance = await openInstance(settings);
    await using _older = await openOlderInstance(environment.DATABASE_DIRECT_URL);
    expect(await petstore(`ban lift ${stock} --json`)).toMatchObject({
      exitCode: 0,
      printed: expect.stringContaining("banLiftedAt"),
      complained: expect.stringContaining(`not known whether key ${stock} is banned. An instance did not report`),
    });
  });

  it("are all listed, even if they do not fit into one message, and if their keys were deleted", async () => {
    await using instance = await openInstance(settings);
    const deleted = Array.from({ length: 120 }, (_, index) => `${1_000 + index}`);
    await Promise.all(deleted.map((key) => ban(instance, key)));
    const listed: { readonly key: string }[] = await json("ban list");
    expect(listed.map(({ key }) => key).toSorted()).toEqual(deleted.toSorted());
    expect(listed[0]).toMatchObject({ account: "(deleted, id 1)" });
  });

  it("are listed with those of an instance of release 1.1, which does not report strikes", async () => {
    await using instance = await openInstance(settings);
    await using _older = await openOlderInstance(environment.DATABASE_DIRECT_URL, stock);
    await ban(instance, website);
    const listed = await petstore("ban list --json");
    expect(listed).toMatchObject({ exitCode: 0, complained: "" });
    expect(JSON.parse(listed.printed)).toMatchObject([{ key: website }, { key: stock, by: "older:1" }]);
    expect(await petstore("usage show shop")).toMatchObject({
      exitCode: 0,
      complained: expect.stringContaining("An instance did not report bans and strikes"),
    });
  });

  it("are not known without a running instance: key list leaves them out", async () => {
    const { printed, complained } = await petstore("key list shop");
    expect(printed).not.toContain("strikes");
    expect(complained).toContain("Bans and strikes may be missing. No instance of the store is running");
    expect(await petstore("ban list")).toMatchObject({ exitCode: 1, complained: expect.stringContaining("start one") });
  });
});

describeWithRedis("the bans of instances that share a Redis", () => {
  it("are listed once, by any instance and after a restart of all, and while Redis is unavailable", async () => {
    await using redis = await openRedisServer();
    const settings = { ...environment, ...bansSoon, REDIS_URL: redis.url, REDIS_COMMAND_TIMEOUT_MS: "5000" };
    const { id } = await json("key issue shop");
    const open = () => Promise.all([openInstance(settings), openInstance(settings)]);
    const [one, other] = await open();
    const bannedUntil = await ban(one, id);
    await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);

    const [again, idle] = await open();
    await using _again = again;
    await using _idle = idle;
    const listed = { account: "shop", key: id, bannedUntil };
    expect(await petstore("ban list --json")).toMatchObject({ exitCode: 0, complained: "" });
    expect(await json("ban list")).toMatchObject([{ ...listed, by: "Redis" }]);
    expect(await json("usage show shop")).toMatchObject({ penalties: [{ key: id, bannedUntil, by: "Redis" }] });

    await ban(again, id);
    await redis.kill();
    await expect.poll(() => again.health().quotaMode).toBe("fallback");
    await expect.poll(() => idle.health().quotaMode).toBe("fallback");
    expect(await petstore("ban list")).toMatchObject({ complained: expect.stringContaining("Redis is unavailable") });
    const by = expect.stringContaining("without its Redis");
    expect(await json("ban list")).toMatchObject([{ ...listed, by }]);
  });
});

describeWithRedis("usage show, of instances that share a Redis,", () => {
  it("reports what Redis counts, once", async () => {
    await using redis = await openRedisServer();
    // On a busy machine, Redis must not seem to be unavailable.
    const settings = { ...environment, REDIS_URL: redis.url, REDIS_COMMAND_TIMEOUT_MS: "5000" };
    await using one = await openInstance(settings);
    await using other = await openInstance(settings);
    await spend(one, 2);
    await spend(other, 2);
    expect(await json("usage show shop")).toMatchObject({ counts: [{ by: "Redis", day: { used: 4, remaining: 1 } }] });
  });

  it("reports the count of each instance while Redis is unavailable", async () => {
    await using redis = await openRedisServer();
    await using instance = await openInstance({ ...environment, REDIS_URL: redis.url });
    await spend(instance, 2);
    await redis.kill();
    await spend(instance, 1);
    expect(await json("usage show shop")).toMatchObject({
      counts: [{ by: expect.stringContaining("without its Redis"), day: { used: 3 } }],
    });
  });
});

/** Sends requests of the account one after the other. */
async function spend({ accountQuota }: Core, requests: number): Promise<void> {
  for (let sent = 0; sent < requests; sent += 1) {
    await accountQuota.reserve({ account: "1", key: "1", limits, cost: 1 });
  }
}

/** Calls until the key is banned, and returns the end of the ban. A refusal in the same millisecond as the first is no strike. */
async function ban(instance: Core, key: string): Promise<string> {
  await expect.poll(async () => (await call(instance, key)).outcome, { interval: 2 }).toBe("banned");
  const { bannedUntilMs = 0 } = await instance.accountQuota.usage({ account: "1", key, limits });
  return new Date(bannedUntilMs).toISOString();
}

function call({ accountQuota }: Core, key: string): Promise<Decision> {
  return accountQuota.reserve({ account: "1", key, limits: { perMinute: 1, perDay: 1 }, cost: 1 });
}

/** Responds as an instance of release 1.1 does, which has banned this key. */
async function openOlderInstance(url: string, bannedKey?: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, application_name: subscriberName });
  const bannedUntilMs = Date.now() + 3_600_000;
  const bans = bannedKey === undefined ? [] : [{ account: "1", key: bannedKey, bannedUntilMs }];
  client.on("notification", ({ payload = "" }) => {
    const { question, ask } = JSON.parse(payload);
    if (ask?.about === "bans" && !ask.of.includes("older:1")) return;
    const known = ask?.about === "bans" ? { bans, more: false } : {};
    const response = JSON.stringify({ question, instance: "older:1", mode: "local", ...known });
    // The test may end before the reply.
    client.query("select pg_notify($1, $2)", [responseChannel, response]).catch(() => {});
  });
  await client.connect();
  await client.query(`listen ${changeChannel}`);
  return { [Symbol.asyncDispose]: () => client.end() };
}
