import { readFileSync } from "node:fs";
import { describeWithRedis } from "@petstore/harness";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRedisQuota } from "../../src/quota/engines/redis-quota.js";
import { minuteMs } from "../../src/quota/window.js";
import { type Caller, createCaller, openAtVirtualTime } from "./caller.js";

const noon = Date.UTC(2031, 4, 14, 12);
const free = { perMinute: 60, perDay: 1_000 };
const previousScript = readFileSync(new URL("reserve-1.0.lua", import.meta.url), "utf8");

describeWithRedis("version 1.0 and this one on one Redis", () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await openRedisServer();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis?.disconnect();
    await server?.[Symbol.asyncDispose]();
  });

  /** The same key of the same account, as this version and as version 1.0 see it. */
  function open(account: string): { current: Caller; previous: (nowMs: number) => Promise<PreviousReply> } {
    const opened = openAtVirtualTime(({ now }) => createRedisQuota({ redis, now }));
    const keys = [`petstore:quota:2:{${account}}`, `petstore:quota:2:{${account}}:1`];
    return {
      current: createCaller(opened, free, { account, key: "1" }),
      async previous(nowMs) {
        const replies = await redis.eval(previousScript, 2, ...keys, nowMs, free.perMinute, free.perDay, 1, 1);
        const [[outcome, , , minuteUsed, , , bannedUntilMs]] = replies as [PreviousNumbers];
        return { outcome: outcomes[outcome] ?? "unknown", minuteUsed, bannedUntilMs };
      },
    };
  }

  it("share the units of an account exactly", async () => {
    const { current, previous } = open("shared");
    for (let unit = 1; unit <= 60; unit += 2) {
      expect(await previous(noon)).toMatchObject({ outcome: "admitted", minuteUsed: unit });
      expect(await current.reserve(noon)).toMatchObject({ outcome: "admitted", minute: { used: unit + 1 } });
    }
    expect(await previous(noon)).toMatchObject({ outcome: "refused" });
    expect(await current.reserve(noon)).toMatchObject({ outcome: "refused" });
  });

  it("hold a ban that version 1.0 began", async () => {
    const { current, previous } = open("banned-by-previous");
    await current.reserve(noon, 60);
    let reply = await previous(noon + 5_000);
    while (reply.outcome === "refused") reply = await previous(noon + 10_000);
    const bannedUntilMs = noon + 10_000 + minuteMs;
    expect(reply).toMatchObject({ outcome: "banned", bannedUntilMs });
    expect(await current.reserve(noon + 11_000)).toMatchObject({ outcome: "banned", bannedUntilMs });
    expect(await current.bans(noon + 11_000)).toEqual(new Map([["1", bannedUntilMs]]));
    await current.liftBan(noon + 11_000);
    expect(await previous(noon + 12_000)).toMatchObject({ outcome: "refused" });
  });

  it("hold a ban that this version began, and its level", async () => {
    const { current, previous } = open("banned-by-current");
    await current.reserve(noon, 60);
    await current.reserve(noon + 5_000);
    await current.outcomes(noon + 10_000, 120);
    const bannedUntilMs = noon + 10_000 + minuteMs;
    expect(await previous(noon + 11_000)).toMatchObject({ outcome: "banned", bannedUntilMs });
    await current.reserve(bannedUntilMs, 60);
    await previous(bannedUntilMs);
    let reply = await previous(bannedUntilMs + 10_000);
    while (reply.outcome === "refused") reply = await previous(bannedUntilMs + 10_000);
    expect(reply.bannedUntilMs).toBe(bannedUntilMs + 10_000 + 2 * minuteMs);
  });

  it("do not take the strikes of each other for their own", async () => {
    const { current, previous } = open("strikes");
    await current.reserve(noon, 60);
    await current.reserve(noon + 5_000);
    expect(await current.outcomes(noon + 10_000, 119)).toEqual(Array(119).fill("refused"));
    await previous(noon + 10_000);
    for (let strike = 1; strike < 20; strike += 1) {
      expect(await previous(noon + 15_000)).toMatchObject({ outcome: "refused" });
    }
    await current.reserve(noon + 16_000);
    expect(await current.outcomes(noon + 20_000, 119)).toEqual(Array(119).fill("refused"));
    expect(await current.reserve(noon + 20_000)).toMatchObject({ outcome: "banned" });
  });
});

interface PreviousReply {
  readonly outcome: string;
  readonly minuteUsed: number;
  readonly bannedUntilMs: number;
}

type PreviousNumbers = readonly [
  outcome: number,
  nowMs: number,
  minuteStartMs: number,
  minuteUsed: number,
  dayStartMs: number,
  dayUsed: number,
  bannedUntilMs: number,
];

const outcomes = ["looked", "admitted", "refused", "banned", "impossible"];
