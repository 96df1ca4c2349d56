import { describeWithRedis } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Admitted } from "../../../src/quota/decision.js";
import type { Quota, Reservation } from "../../../src/quota/quota.js";
import { newAccount, openQuotasOnRedis, until } from "./quotas-fixture.js";

describeWithRedis("an extension when Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await openRedisServer();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  it("is killed after the first unit and recovers empty: n units are counted", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url] });
    const account = newAccount(100);
    const held = await admit(opened.accounts, account);
    await server.kill();
    expect(await opened.accounts.extend({ ...account, cost: 5, heldIn: held })).toMatchObject({
      outcome: "admitted",
      mode: "fallback",
      day: { used: 5 },
    });
    await server.restart();
    await until(() => opened.mode() === "shared");
    expect(await opened.accounts.reserve(account)).toMatchObject({ mode: "shared", day: { used: 6 } });
  });

  it("recovers after the first unit: n units are counted", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url] });
    const account = newAccount(100);
    await server.kill();
    const held = await admit(opened.accounts, account);
    await server.restart();
    await until(() => opened.mode() === "shared");
    expect(await opened.accounts.extend({ ...account, cost: 5, heldIn: held })).toMatchObject({
      outcome: "admitted",
      mode: "shared",
      day: { used: 5 },
    });
  });

  it("recovers after the first unit and refuses: the unit is given back", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url] });
    const account = newAccount(10);
    await server.kill();
    for (let unit = 0; unit < 8; unit += 1) await opened.accounts.reserve(account);
    const held = await admit(opened.accounts, account);
    await server.restart();
    await until(() => opened.mode() === "shared");
    const refused = await opened.accounts.extend({ ...account, cost: 3, heldIn: held });
    expect(refused).toMatchObject({ outcome: "refused", mode: "shared", day: { used: 8 } });
    expect(await opened.accounts.usage(account)).toMatchObject({ day: { used: 8 } });
  });

  it("executes it and the reply is lost: n units are counted, not more", async () => {
    await using proxy = await openFaultProxy({ url: server.url });
    using opened = await openQuotasOnRedis({ urls: [proxy.url] });
    const account = newAccount(100);
    const held = await admit(opened.accounts, account);
    await proxy.dropReplies();
    expect(await opened.accounts.extend({ ...account, cost: 5, heldIn: held })).toMatchObject({ outcome: "admitted" });
    await proxy.restore();
    await until(() => opened.mode() === "shared");
    expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 6 } });
  });

  it("never receives it: n units are counted", async () => {
    await using proxy = await openFaultProxy({ url: server.url });
    using opened = await openQuotasOnRedis({ urls: [proxy.url] });
    const account = newAccount(100);
    const held = await admit(opened.accounts, account);
    await proxy.blackHole();
    expect(await opened.accounts.extend({ ...account, cost: 5, heldIn: held })).toMatchObject({ outcome: "admitted" });
    await proxy.restore();
    await until(() => opened.mode() === "shared");
    expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 6 } });
  });

  it("refuses it and the reply is lost: the unit is given back once", async () => {
    await using proxy = await openFaultProxy({ url: server.url });
    using opened = await openQuotasOnRedis({ urls: [proxy.url] });
    const account = newAccount(10);
    for (let unit = 0; unit < 9; unit += 1) await opened.accounts.reserve(account);
    const held = await admit(opened.accounts, account);
    await proxy.dropReplies();
    expect(await opened.accounts.extend({ ...account, cost: 3, heldIn: held })).toMatchObject({ outcome: "refused" });
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", mode: "fallback" });
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "refused", mode: "fallback" });
    await proxy.restore();
    await until(() => opened.mode() === "shared");
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "refused", mode: "shared" });
  });

  it("is unavailable and the quota denies: it is rejected", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url], onRedisFailure: "deny" });
    const account = newAccount(100);
    const held = await admit(opened.accounts, account);
    await server.kill();
    const extension = opened.accounts.extend({ ...account, cost: 5, heldIn: held });
    await expect(extension).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await server.restart();
  });
});

async function admit(quota: Quota, reservation: Reservation): Promise<Admitted> {
  const decision = await quota.reserve(reservation);
  if (decision.outcome !== "admitted") throw new Error(`expected an admission, got ${decision.outcome}`);
  return decision;
}
