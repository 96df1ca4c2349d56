import { describeWithRedis } from "@petstore/testing";
import { openRedisServer, type RedisServer } from "@petstore/testing/redis";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Quota, Reservation } from "../../src/quota/quota.js";
import { type Failover, newAccount, openFailover, until } from "./failover-scene.js";

describeWithRedis("two instances on one Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await openRedisServer();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const open = () => openFailover({ urls: [server.url], instances: 2 });

  it("grant together what was left, and no more, while it is away and when it is back empty", async () => {
    using one = await open();
    using other = await open();
    const account = newAccount(100);
    await grants(one.accounts, account, 20);
    await grants(other.accounts, account, 20);
    await one.accounts.reserve(account);
    await other.accounts.reserve(account);
    await server.kill();
    expect(await grants(one.accounts, account, 100)).toBe(29);
    expect(await grants(other.accounts, account, 10)).toBe(10);
    await server.restart();
    await untilShared(one, other);
    // In this order: the one that has last seen 41 cannot know of the 42nd.
    await other.accounts.reserve(account);
    await one.accounts.reserve(account);
    // 42 before the outage, 39 in it, 2 after it.
    expect(await grants(one.accounts, account, 100)).toBe(17);
    expect(await grants(other.accounts, account, 100)).toBe(0);
  });

  it("carry units back once more when Redis refused the call that brought them", async () => {
    using one = await open();
    using other = await open();
    const account = newAccount(1_000);
    await one.accounts.reserve(account);
    await server.kill();
    expect(await grants(one.accounts, account, 50)).toBe(50);
    await server.restart();
    await untilShared(one, other);
    await server.command("REPLICAOF", "127.0.0.1", 1);
    expect(await one.accounts.reserve(account)).toMatchObject({ outcome: "admitted" });
    await other.accounts.reserve({ ...newAccount(10) });
    await server.command("REPLICAOF", "NO", "ONE");
    await untilShared(one, other);
    expect(await grants(other.accounts, account, 100)).toBe(100);
    // 50 of the outage and 1 of the one after it, 100 of the other instance, and this one.
    expect(await one.accounts.reserve(account)).toMatchObject({ day: { used: 152 } });
  });
});

/** One after the other. */
async function grants(quota: Quota, reservation: Reservation, calls: number): Promise<number> {
  let granted = 0;
  for (let call = 0; call < calls; call += 1) {
    if ((await quota.reserve(reservation)).outcome === "admitted") granted += 1;
  }
  return granted;
}

function untilShared(...opened: readonly Failover[]): Promise<void> {
  return until(() => opened.every(({ mode }) => mode() === "shared"));
}
