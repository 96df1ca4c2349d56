import { setTimeout as sleep } from "node:timers/promises";
import { describeWithRedis } from "@petstore/harness";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { messages, newAccount, openQuotasOnRedis, until } from "./quotas-fixture.js";

describeWithRedis("the deadline of a decision", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await openRedisServer();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  it("ends the wait of all calls when the first call misses it", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url], decisionTimeoutMs: 1_000 });
    const account = newAccount(100);
    await opened.accounts.reserve(account);
    server.pause();
    const first = opened.accounts.reserve(account);
    await sleep(700);
    const startMs = performance.now();
    await opened.accounts.reserve(account);
    expect(performance.now() - startMs).toBeLessThan(700);
    await first;
    server.resume();
    await until(() => opened.mode() === "shared", 4_000);
    expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 4 } });
  });

  it("is not missed by a reply that this process was too busy to read", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url], decisionTimeoutMs: 200 });
    const decision = opened.accounts.reserve(newAccount(100));
    const endMs = performance.now() + 400;
    while (performance.now() < endMs);
    expect(await decision).toMatchObject({ day: { used: 1 } });
    expect(opened.logged).toEqual([messages.shared]);
  });
});
