import { describeWithRedis } from "@petstore/harness";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Quota, Reservation } from "../../../src/quota/quota.js";
import { type LoggedQuotas, newAccount, openQuotasOnRedis, until } from "./quotas-fixture.js";

describeWithRedis("two instances on one Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await openRedisServer();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const open = () => openQuotasOnRedis({ urls: [server.url], instances: 2 });

  it("grant together the units that were left, and no more, during an outage and after Redis recovers empty", async () => {
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
    // In this order: the instance that saw 41 units last cannot know of the 42nd.
    await other.accounts.reserve(account);
    await one.accounts.reserve(account);
    // 42 before the outage, 39 in it, 2 after it.
    expect(await grants(one.accounts, account, 100)).toBe(17);
    expect(await grants(other.accounts, account, 100)).toBe(0);
  });

  it("tell Redis their units again when it rejected the first call", async () => {
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
    // 50 units of the first outage, 1 of the second, 100 of the other instance, and this unit.
    expect(await one.accounts.reserve(account)).toMatchObject({ day: { used: 152 } });
  });
});

/** Reserves one unit after the other, and returns how many were granted. */
async function grants(quota: Quota, reservation: Reservation, calls: number): Promise<number> {
  let granted = 0;
  for (let call = 0; call < calls; call += 1) {
    if ((await quota.reserve(reservation)).outcome === "admitted") granted += 1;
  }
  return granted;
}

function untilShared(...opened: readonly LoggedQuotas[]): Promise<void> {
  return until(() => opened.every(({ mode }) => mode() === "shared"));
}
