import { describeWithRedis } from "@petstore/harness";
import { openFaultProxy } from "@petstore/harness/network";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Quota, Reservation } from "../../../src/quota/quota.js";
import { messages, newAccount, openQuotasOnRedis, until } from "./quotas-fixture.js";

describeWithRedis("the quota when Redis", () => {
  describe("is absent at start", () => {
    it("opens at once, decides alone, and tells Redis the granted units when that becomes available", async () => {
      await using server = await openRedisServer();
      await server.kill();
      const startMs = performance.now();
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      expect(performance.now() - startMs).toBeLessThan(1_500);
      expect([opened.mode(), opened.logged]).toEqual(["fallback", [messages.unavailable]]);
      const account = newAccount(100);
      expect(await countAdmitted(opened.accounts, account, 10)).toBe(10);

      await server.restart();
      await until(() => opened.mode() === "shared");
      expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", day: { used: 11 } });
    });
  });

  describe("is healthy", () => {
    it("makes one call for equal usage queries of one tick, as when requests are refused without a reservation", async () => {
      await using server = await openRedisServer();
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const { account, limits } = newAccount(100);
      await opened.accounts.reserve({ account, limits, cost: 3 });
      await server.command("CONFIG", "RESETSTAT");
      const usages = await Promise.all(Array.from({ length: 50 }, () => opened.accounts.usage({ account, limits })));
      expect(usages.map(({ day }) => day.used)).toEqual(Array(50).fill(3));
      expect(await scriptCalls(server)).toBe(1);
    });
  });

  describe("fails", () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await openRedisServer();
    });
    afterAll(() => server?.[Symbol.asyncDispose]());

    it("decides every call while Redis is killed under load, and grants nothing twice after it recovers empty", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const account = newAccount(500);
      const first = countAdmitted(opened.accounts, account, 200);
      await server.kill();
      expect(await first).toBe(200);
      expect(await countAdmitted(opened.accounts, account, 100)).toBe(100);
      await server.restart();
      await until(() => opened.mode() === "shared");
      expect(await countAdmitted(opened.accounts, account, 400)).toBe(200);
    });

    it("logs one line at the start and one at the end of an outage, under any load", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      for (let outage = 0; outage < 2; outage += 1) {
        const calls = countAdmitted(opened.accounts, newAccount(1_000), 200);
        await server.kill();
        await calls;
        await countAdmitted(opened.accounts, newAccount(1_000), 200);
        await server.restart();
        await until(() => opened.mode() === "shared");
        await countAdmitted(opened.accounts, newAccount(1_000), 200);
      }
      const { shared, unavailable, recovered } = messages;
      expect(opened.logged).toEqual([shared, unavailable, recovered, unavailable, recovered]);
    });

    it("notices that Redis was restarted while no call was in flight", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const account = newAccount(500);
      await countAdmitted(opened.accounts, account, 300);
      await server.restart();
      await until(() => opened.logged.at(-1) === messages.recovered);
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 301 } });
    });

    it.each([
      { reason: "READONLY", fail: "REPLICAOF 127.0.0.1 1", recover: "REPLICAOF NO ONE" },
      { reason: "OOM", fail: "CONFIG SET maxmemory 1", recover: "CONFIG SET maxmemory 0" },
    ])("decides alone while Redis replies to PING but $reason to writes, and sends it only probes", async (fault) => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const account = newAccount(5_000);
      expect(await countAdmitted(opened.accounts, account, 100)).toBe(100);
      await command(server, fault.fail);
      expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", day: { used: 101 } });
      expect(await server.command("PING")).toBe("PONG");
      await command(server, "CONFIG RESETSTAT");
      const startMs = performance.now();
      let calls = 0;
      for (; performance.now() - startMs < 1_000; calls += 10) await countAdmitted(opened.accounts, account, 10);
      expect(opened.mode()).toBe("fallback");
      expect(await scriptCalls(server)).toBeLessThanOrEqual(8);
      await command(server, fault.recover);
      await until(() => opened.mode() === "shared");
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: Math.min(5_000, calls + 102) } });
      expect(opened.logged).toEqual([messages.shared, messages.unavailable, messages.recovered]);
    });

    it("loads forgotten scripts again without an outage", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const account = newAccount(1_000);
      for (let flush = 0; flush < 20; flush += 1) {
        const calls = countAdmitted(opened.accounts, account, 20);
        await command(server, "SCRIPT FLUSH");
        await calls;
        // Loads the script again: a second flush while calls are repeated after the first one would be a failure.
        await opened.accounts.reserve(account);
      }
      expect(await opened.accounts.usage(account)).toMatchObject({ day: { used: 420 } });
      expect(opened.logged).toEqual([messages.shared]);
    });

    it("counts every call once when replies are lost after the execution", async () => {
      await using proxy = await openFaultProxy({ url: server.url });
      using opened = await openQuotasOnRedis({ urls: [proxy.url] });
      const account = newAccount(100_000);
      let admitted = await countAdmitted(opened.accounts, account, 50);
      for (let fault = 0; fault < 5; fault += 1) {
        await proxy.dropReplies();
        admitted += await countAdmitted(opened.accounts, account, 50);
        await proxy.restore();
        admitted += await countAdmitted(opened.accounts, account, 50);
        await until(() => opened.mode() === "shared");
        admitted += await countAdmitted(opened.accounts, account, 50);
      }
      expect(admitted).toBe(800);
      expect(await opened.accounts.usage(account)).toMatchObject({ day: { used: 800 } });
    });

    it("counts every call once when Redis never received them", async () => {
      await using proxy = await openFaultProxy({ url: server.url });
      using opened = await openQuotasOnRedis({ urls: [proxy.url] });
      const account = newAccount(100_000);
      await countAdmitted(opened.accounts, account, 50);
      await proxy.blackHole();
      expect(await countAdmitted(opened.accounts, account, 50)).toBe(50);
      await proxy.restore();
      await until(() => opened.mode() === "shared");
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 101 } });
    });

    it("waits for a stopped Redis once, and its late executions grant nothing twice", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url], decisionTimeoutMs: 1_000 });
      const account = newAccount(1_000);
      await countAdmitted(opened.accounts, account, 100);
      server.pause();
      const startMs = performance.now();
      expect(await countAdmitted(opened.accounts, account, 64)).toBe(64);
      expect(performance.now() - startMs).toBeGreaterThanOrEqual(990);
      const laterMs = performance.now();
      expect(await countAdmitted(opened.accounts, account, 64)).toBe(64);
      expect(performance.now() - laterMs).toBeLessThan(900);
      server.resume();
      await until(() => opened.mode() === "shared", 4_000);
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 229 } });
      expect(await countAdmitted(opened.accounts, account, 1_000)).toBe(771);
    });

    it("tells Redis the units of an outage in one of many simultaneous calls", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const account = newAccount(10_000);
      await countAdmitted(opened.accounts, account, 10);
      await server.kill();
      await countAdmitted(opened.accounts, account, 100);
      await server.restart();
      await until(() => opened.mode() === "shared");
      expect(await countAdmitted(opened.accounts, account, 200)).toBe(200);
      expect(await opened.accounts.usage(account)).toMatchObject({ day: { used: 310 } });
    });

    it("rejects with SERVICE_UNAVAILABLE when it denies, and still reports both windows", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url], onRedisFailure: "deny" });
      const account = newAccount(100);
      await countAdmitted(opened.accounts, account, 10);
      await server.kill();
      for (let call = 0; call < 3; call += 1) {
        await expect(opened.accounts.reserve(account)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
        expect(await opened.accounts.usage(account)).toMatchObject({ day: { limit: 100, used: 10 } });
      }
      await server.restart();
      await until(() => opened.mode() === "shared");
      expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", day: { used: 11 } });
    });

    it("lifts a ban and resets an account on this instance, and rejects because others cannot learn of it", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const account = newAccount(10);
      await countAdmitted(opened.accounts, account, 10);
      await server.kill();
      await expect(opened.accounts.reset(account)).rejects.toThrow();
      await expect(opened.accounts.liftBan({ ...account, key: "1" })).rejects.toThrow();
      expect(await countAdmitted(opened.accounts, account, 20)).toBe(10);
      await server.restart();
    });

    it("keeps the windows of Redis when the clock of this machine is an hour off", async () => {
      const hourMs = 3_600_000;
      using opened = await openQuotasOnRedis({ urls: [server.url], now: () => Date.now() + hourMs });
      const account = newAccount(100);
      const seen = await opened.accounts.reserve(account);
      await server.kill();
      const alone = await opened.accounts.reserve(account);
      await server.restart();
      for (const { nowMs, minute } of [seen, alone]) {
        expect(Math.abs(nowMs - Date.now())).toBeLessThan(5_000);
        expect(minute.resetAtMs - nowMs).toBeLessThanOrEqual(60_000);
      }
      expect(alone).toMatchObject({ outcome: "admitted", day: { used: 2, resetAtMs: seen.day.resetAtMs } });
    });

    it("gives a unit back that was spent before or during an outage", async () => {
      using opened = await openQuotasOnRedis({ urls: [server.url] });
      const account = newAccount(100);
      const before = await opened.accounts.reserve(account);
      await server.kill();
      const alone = await opened.accounts.reserve(account);
      await opened.accounts.reserve(account);
      expect(await opened.accounts.refund({ ...account, heldIn: alone })).toMatchObject({ day: { used: 2 } });
      await server.restart();
      await until(() => opened.mode() === "shared");
      expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 3 } });
      expect(await opened.accounts.refund({ ...account, heldIn: before })).toMatchObject({ day: { used: 2 } });
    });
  });
});

/** Makes all calls at once. */
async function countAdmitted(quota: Quota, reservation: Reservation, calls: number): Promise<number> {
  const decisions = await Promise.all(Array.from({ length: calls }, () => quota.reserve(reservation)));
  return decisions.filter(({ outcome }) => outcome === "admitted").length;
}

function command(server: RedisServer, line: string): Promise<unknown> {
  const [name = "", ...words] = line.split(" ");
  return server.command(name, ...words);
}

async function scriptCalls(server: RedisServer): Promise<number> {
  const stats = String(await server.command("INFO", "commandstats"));
  const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+).*?rejected_calls=(\d+)/g)];
  return calls.reduce((sum, [, made, rejected]) => sum + Number(made) + Number(rejected), 0);
}
