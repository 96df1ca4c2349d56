import { setTimeout as sleep } from "node:timers/promises";
import { describeWithRedis, shared } from "@petstore/harness";
import { type FaultProxy, openFaultProxy } from "@petstore/harness/network";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { createBreakers } from "../../../src/quota/engines/fallback/breakers.js";
import { openRedis, type RedisConnection } from "../../../src/quota/engines/redis-connection.js";
import { silentLog } from "../../logs.js";
import { admitAll, messages, newAccount, openQuotasOnRedis } from "./quotas-on-redis.js";

type Step = (server: RedisServer, proxy: FaultProxy) => unknown;
type StepOfServer = (server: RedisServer) => unknown;

const acceptWrites: StepOfServer = (server) => server.command("REPLICAOF", "NO", "ONE");
function becomeReplica(servesStaleData: "yes" | "no"): StepOfServer {
  return async (server) => {
    await server.command("CONFIG", "SET", "replica-serve-stale-data", servesStaleData);
    await server.command("REPLICAOF", "127.0.0.1", 1);
  };
}
function set(name: string, value: number): StepOfServer {
  return (server) => server.command("CONFIG", "SET", name, value);
}

/** Another server may be the primary now. */
const losses: readonly (readonly [outage: string, begin: StepOfServer, end: StepOfServer])[] = [
  ["refuses writes with READONLY", becomeReplica("yes"), acceptWrites],
  ["refuses calls with MASTERDOWN", becomeReplica("no"), acceptWrites],
  ["refuses writes with NOREPLICAS", set("min-replicas-to-write", 1), set("min-replicas-to-write", 0)],
];

const outages: readonly (readonly [outage: string, begin: Step, end: Step])[] = [
  ["is killed, and recovers empty", (server) => server.kill(), (server) => server.restart()],
  ["is stopped, and continues", (server) => server.pause(), (server) => server.resume()],
  ...losses,
  ["refuses writes with OOM", set("maxmemory", 1), set("maxmemory", 0)],
  ["never receives the calls", (_, proxy) => proxy.blackHole(), (_, proxy) => proxy.restore()],
  ["executes the calls, but loses its replies", (_, proxy) => proxy.dropReplies(), (_, proxy) => proxy.restore()],
];

describeWithRedis("the quota when Redis", async () => {
  const server = await shared(openRedisServer());

  it.each(outages)("%s: decides every call, counts each unit once, and logs two lines", async (_outage, begin, end) => {
    await using proxy = await openFaultProxy({ url: server.url });
    using opened = await openQuotasOnRedis({ urls: [proxy.url] });
    const account = newAccount(200);
    const [first] = await admitAll(opened, account, 10);

    const inFlight = admitAll(opened, account, 20);
    await begin(server, proxy);
    await inFlight;
    expect(await opened.accounts.extend({ ...account, cost: 5, receipt: first })).toMatchObject({
      outcome: "admitted",
    });
    const [held, extended = held, refunded = held, other = held] = await admitAll(opened, account, 30);
    expect([opened.mode(), held.mode]).toEqual(["fallback", "fallback"]);
    await opened.accounts.extend({ ...account, cost: 5, receipt: extended });
    await opened.accounts.refund({ ...account, receipt: refunded });
    const used = 10 + 20 + 4 + 30 + 4 - 1;

    await end(server, proxy);
    await expect.poll(opened.mode).toBe("shared");
    expect(await opened.accounts.refund({ ...account, receipt: other })).toMatchObject({ day: { used: used - 1 } });
    expect(await opened.accounts.extend({ ...account, cost: 5, receipt: held })).toMatchObject({ outcome: "admitted" });
    await admitAll(opened, account, 20);
    expect(await opened.accounts.usage(account)).toMatchObject({ day: { used: used - 1 + 4 + 20 } });
    expect(opened.logged).toEqual([messages.shared, messages.unavailable, messages.recovered]);
  });

  it("holds a ban: lifts it there, and for the next outage", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url] });
    const account = { ...newAccount(100), key: "1" };
    await server.command("SET", `petstore:quota:2:{${account.account}}:1`, `0:0:0:0:${Date.now() + 60_000}:1`);
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "banned" });
    await opened.accounts.liftBan({ ...account, liftedAgoMs: 0 });
    expect(await opened.accounts.usage(account)).not.toHaveProperty("bannedUntilMs");
    await server.kill();
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", mode: "fallback" });
    await server.restart();
  });

  it("is killed: does not take refunded units as own, because it may have granted them to other instances", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url], instances: 4 });
    const account = newAccount(100);
    for (let request = 0; request < 80; request += 1) {
      const [receipt] = await admitAll(opened, account, 1);
      await opened.accounts.refund({ ...account, receipt });
    }
    await server.kill();
    const decisions = await Promise.all(Array.from({ length: 100 }, () => opened.accounts.reserve(account)));
    expect(decisions.filter(({ outcome }) => outcome === "admitted")).toHaveLength(24);
    await server.restart();
  });

  it("is absent at start: opens at once, decides alone, and tells Redis the granted units later", async () => {
    await server.kill();
    using opened = await openQuotasOnRedis({ urls: [server.url] });
    expect([opened.mode(), opened.logged]).toEqual(["fallback", [messages.unavailable]]);
    const account = newAccount(100);
    await admitAll(opened, account, 10);
    await server.restart();
    await expect.poll(opened.mode).toBe("shared");
    expect(await opened.accounts.usage(account)).toMatchObject({ day: { used: 10 } });
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", day: { used: 11 } });
  });

  it("was restarted while no call was in flight: notices it", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url] });
    const account = newAccount(500);
    await admitAll(opened, account, 300);
    await server.restart();
    await expect.poll(() => opened.logged.at(-1)).toBe(messages.recovered);
    expect(await opened.accounts.reserve(account)).toMatchObject({ day: { used: 301 } });
  });

  it.each(losses)("%s: connects again", async (_outage, begin, end) => {
    using opened = await openQuotasOnRedis({ urls: [server.url] });
    const connections = async () =>
      Number(/total_connections_received:(\d+)/.exec(String(await server.command("INFO", "stats")))?.[1]);
    const before = await connections();
    await begin(server);
    await admitAll(opened, newAccount(1), 1);
    await expect.poll(connections).toBeGreaterThan(before);
    await end(server);
    await expect.poll(opened.mode).toBe("shared");
  });

  it("is unavailable and the quota denies: rejects with SERVICE_UNAVAILABLE, and reports the known counts", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url], failureMode: "deny", instances: 4 });
    const account = newAccount(100);
    const [receipt] = await admitAll(opened, account, 10);
    await server.kill();
    const unavailable = { code: "SERVICE_UNAVAILABLE" };
    await expect(opened.accounts.reserve(account)).rejects.toMatchObject(unavailable);
    await expect(opened.accounts.extend({ ...account, cost: 5, receipt })).rejects.toMatchObject(unavailable);
    expect(await opened.accounts.usage(account)).toMatchObject({ day: { limit: 100, used: 10 } });
    await server.restart();
    await expect.poll(opened.mode).toBe("shared");
    expect(await opened.accounts.reserve(account)).toMatchObject({ outcome: "admitted", day: { used: 11 } });
  });

  it.each([
    ["the password", ["-@all"], "default:wrong", /^WRONGPASS /],
    ["a connection without a password", ["-@all"], "", /^NOAUTH /],
    ["a user without the right to run scripts", ["+@all", "-@scripting", "~*"], "petstore:secret", /^NOPERM .*eval/],
  ])("refuses %s: logs the cause, without the password", async (_what, rights, login, cause) => {
    await using closed = await openRedisServer({ settings: { requirepass: "other" } });
    await closed.command("ACL", "SETUSER", "petstore", "on", ">secret", ...rights);
    using opened = await openQuotasOnRedis({ urls: [closed.url.replace("//", `//${login}@`)] });
    expect(await opened.accounts.reserve(newAccount(1))).toMatchObject({ mode: "fallback" });
    expect(opened.logged.at(-1)).toBe(messages.unavailable);
    expect(opened.causes.at(-1)).toMatch(cause);
    expect(opened.causes.join()).not.toMatch(/wrong\b|secret/);
  });

  it("refuses a password that was changed during a connection: logs the cause when it cannot connect again", async () => {
    await using closed = await openRedisServer();
    await closed.command("ACL", "SETUSER", "petstore", "on", ">secret", "+@all", "~*");
    using opened = await openQuotasOnRedis({ urls: [closed.url.replace("//", "//petstore:secret@")] });
    await admitAll(opened, newAccount(1), 1);
    await closed.command("ACL", "SETUSER", "petstore", "resetpass", ">other");
    await closed.command("CLIENT", "KILL", "USER", "petstore");
    await expect.poll(() => opened.causes.at(-1), { timeout: 20_000 }).toMatch(/^WRONGPASS /);
    expect(opened.logged).toEqual([messages.shared, messages.unavailable, "Redis refuses the user of REDIS_URL"]);
  });

  it("loads its data: is used again as soon as they are loaded", async () => {
    const perKey = {
      "key-load-delay": "100000",
      "loading-process-events-interval-bytes": "1024",
      rdbcompression: "no",
    };
    await using slow = await openRedisServer({ settings: perKey });
    await slow.command("EVAL", "for i = 1, 200 do redis.call('SET', i, string.rep('x', 1024)) end", 0);
    await slow.command("SAVE");
    using opened = await openQuotasOnRedis({ urls: [slow.url] });
    const restarted = slow.restart();
    await expect.poll(opened.mode).toBe("fallback");
    // Redis says that it loads for 20 s.
    await sleep(1_000);
    const redis = new Redis(slow.url, { enableReadyCheck: false });
    await redis.config("SET", "key-load-delay", 0);
    redis.disconnect();
    await restarted;
    await expect.poll(opened.mode, { timeout: 5_000 }).toBe("shared");
  });

  it("fails a call: ends the calls in flight without their replies, because this instance decides alone now", async () => {
    for (const [fail, reason] of [
      [(redis: RedisConnection["redis"]) => redis.eval("return redis.error_reply('OOM')", 0), "an outage began"],
      // The breaker connects again, so the call in flight does not wait for its own deadline.
      [() => Promise.reject(new Error("no reply")), "max retries per request"],
    ] as const) {
      using connection = await openRedis({ urls: [server.url], isCluster: false, decisionTimeoutMs: 0 });
      await expect.poll(() => connection.redis.status).toBe("ready");
      using breakers = createBreakers({
        shards: connection.shards,
        probe: async () => {},
        deadlineMs: 30_000,
        now: Date.now,
        log: silentLog,
      });
      const failed = breakers.run("one", () => fail(connection.redis));
      const inFlight = breakers.run("two", () => connection.redis.blpop("never", 0.1));
      // Both fail at one moment.
      await Promise.all([expect(failed).rejects.toThrow(/OOM|no reply/), expect(inFlight).rejects.toThrow(reason)]);
      expect(breakers.states()).toMatchObject([{ outages: 1 }]);
    }
  });

  it("replied, but this process was too busy to read it: misses no deadline", async () => {
    using opened = await openQuotasOnRedis({ urls: [server.url], decisionTimeoutMs: 200 });
    const decision = opened.accounts.reserve(newAccount(100));
    const endMs = performance.now() + 400;
    while (performance.now() < endMs);
    expect(await decision).toMatchObject({ day: { used: 1 } });
    expect(opened.logged).toEqual([messages.shared]);
  });
});
