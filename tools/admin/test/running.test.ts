import { describeWithRedis } from "@petstore/harness";
import { type Service, startService } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { describe, expect, it } from "vitest";
import { useDatabase } from "./run-command.js";

const shop = "account create shop --plan enterprise --per-minute 100 --per-day 5";
const { environment, json, petstore } = useDatabase("migrate", shop);

describe("with two instances that count for themselves", () => {
  it("usage show asks both for both windows, also if a URL names the connections of one", async () => {
    await using one = await startService({ environment: environment() });
    const named = new URL(environment().DATABASE_DIRECT_URL);
    named.searchParams.set("application_name", "shop");
    await using other = await startService({ environment: { ...environment(), DATABASE_DIRECT_URL: named.href } });
    const { key } = await json("key issue shop");
    await request(one, key, 2);
    await request(other, key, 3);
    const { counts } = await json("usage show shop");
    const day = { limit: 5, resetsAt: expect.stringMatching(/T00:00:00.000Z$/) };
    const countOf = (used: number) =>
      expect.objectContaining({
        // The minute may have ended since the requests.
        minute: expect.objectContaining({ limit: 100, used: expect.toBeOneOf([used, 0]) }),
        day: expect.objectContaining({ ...day, used }),
      });
    expect(counts).toHaveLength(2);
    expect(counts).toEqual(expect.arrayContaining([countOf(2), countOf(3)]));
    const { printed } = await petstore("usage show shop");
    expect(printed).toMatch(/^window +limit +used +remaining +resetsAt +by\nminute +100 /);
  });

  it("says which part of the truth it tells when an instance does not answer", async () => {
    await using one = await startService({ environment: environment() });
    await using other = await startService({ environment: environment() });
    other.signal("SIGSTOP");
    const ran = await petstore("usage show shop --json");
    expect(ran).toMatchObject({ exitCode: 0, complained: "Only 1 of 2 instances answered." });
    expect(JSON.parse(ran.printed).counts).toHaveLength(1);
    one.signal("SIGSTOP");
    expect(await petstore("usage show shop")).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("None of 2 running instances answered within 2 s"),
    });
    // A stopped process ignores SIGTERM.
    await Promise.all([one.kill(), other.kill()]);
  });
});

describeWithRedis("with two instances that share a Redis", () => {
  it("usage show reports what Redis counts, once", async () => {
    await using redis = await openRedisServer();
    // On a busy machine, Redis must not seem to be unavailable.
    const settings = { ...environment(), REDIS_URL: redis.url, REDIS_COMMAND_TIMEOUT_MS: "5000" };
    await using one = await startService({ environment: settings });
    await using other = await startService({ environment: settings });
    const { key } = await json("key issue shop");
    await request(one, key, 2);
    await request(other, key, 2);
    expect(await json("usage show shop")).toMatchObject({ counts: [{ by: "Redis", day: { used: 4, remaining: 1 } }] });
  });

  it("usage show reports the count of each instance while Redis is unavailable", async () => {
    await using redis = await openRedisServer();
    await using one = await startService({ environment: { ...environment(), REDIS_URL: redis.url } });
    const { key } = await json("key issue shop");
    await request(one, key, 2);
    await redis.kill();
    await request(one, key, 1);
    expect(await json("usage show shop")).toMatchObject({
      counts: [{ by: expect.stringContaining("without its Redis"), day: { used: 3 } }],
    });
  });
});

/** Sends requests one after the other with one key. */
async function request({ origin }: Service, key: string, times: number): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) {
    await fetch(`${origin}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  }
}
