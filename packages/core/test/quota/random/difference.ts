import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { Redis } from "ioredis";
import { openLocal, openOnRedis } from "../caller.js";
import { play, type Reply } from "./play.js";
import { type Script, scriptPolicy } from "./scripts.js";

export interface CompareOptions {
  readonly scripts: fc.Arbitrary<Script>;
  readonly redis: Redis;
  /** Random if absent. A failure names it. */
  readonly seed?: number;
  /** Compares scripts until they have made that many calls. */
  readonly atLeastCalls: number;
  /** False: returns the first script that shows a difference, not the shortest one. */
  readonly shrinks?: boolean;
}

/**
 * Plays random scripts on the Redis and the local quota at once, and compares every reply in full. Returns undefined when all
 * were equal and every Redis key has a TTL.
 */
export async function findDifference(options: CompareOptions): Promise<string | undefined> {
  const { scripts, redis, seed = Math.floor(Math.random() * 2 ** 31), atLeastCalls, shrinks = true } = options;
  let calls = 0;
  const property = fc.asyncProperty(scripts, async (script) => {
    const prefix = randomUUID();
    const engines = [openOnRedis(redis, scriptPolicy), openLocal({ banPolicy: scriptPolicy })];
    const played = await play(script, engines, { prefix });
    calls += played.length;
    for (const { replies, ...call } of played) {
      const [given, right] = replies.map(withoutMode);
      assert.deepStrictEqual({ ...call, reply: given }, { ...call, reply: right });
    }
    await everyKeyHasTtl(redis, prefix);
  });
  for (let batch = 0; calls < atLeastCalls; batch += 1) {
    const result = await fc.check(property, { numRuns: 50, seed: seed + batch, endOnFailure: !shrinks });
    if (result.failed) return fc.defaultReportMessage(result);
  }
  return undefined;
}

/** Rejects if a key of a script has no TTL. A script has two accounts with two API keys each. */
async function everyKeyHasTtl(redis: Redis, accountPrefix: string): Promise<void> {
  const accounts = [0, 1].map((account) => `petstore:quota:2:{${accountPrefix}account-${account}}`);
  const keys = accounts.flatMap((account) => [account, `${account}:key-0`, `${account}:key-1`]);
  const ttls = await Promise.all(keys.map((key) => redis.pttl(key)));
  assert.ok(!ttls.includes(-1), "a key without a TTL");
}

/** The mode is the only thing in which engines may differ. */
function withoutMode(reply: Reply): object | undefined {
  return reply && { ...reply, mode: undefined };
}
