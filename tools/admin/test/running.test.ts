import { type Core, subscriberName } from "@petstore/core";
import { describeWithRedis } from "@petstore/harness";
import { openSession } from "@petstore/harness/postgres";
import { startService } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { expect, it } from "vitest";
import { openInstance, useDatabase } from "./run-command.js";

const limits = { perMinute: 100, perDay: 5 };
const shop = "account create shop --plan enterprise --per-minute 100 --per-day 5";
const { environment, json, petstore } = await useDatabase("migrate", shop);

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
  await using service = await startService({ environment });
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
  expect(printed).toMatch(/^window +limit +used +remaining +resetsAt +by\nminute +100 /);
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
