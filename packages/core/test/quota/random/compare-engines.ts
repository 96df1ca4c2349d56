import assert from "node:assert/strict";
import fc from "fast-check";
import type { Redis } from "ioredis";
import { openLocal, openOnRedis } from "../caller.js";
import { type Played, play, type Reply } from "./play.js";
import { type Script, scriptPolicy } from "./scripts.js";

export interface CompareOptions {
  readonly scripts: fc.Arbitrary<Script>;
  readonly redis: Redis;
  /** Compares scripts until they have made that many calls. */
  readonly atLeastCalls: number;
  /** False: rejects with the first script that shows a difference, not with the shortest one. */
  readonly shrinks?: boolean;
}

/**
 * Plays random scripts on the Redis and the local quota at once, and compares every reply in full. Rejects if two replies
 * differ or a Redis key has no TTL. The cause of the error is then an AssertionError.
 */
export async function compareEngines({ scripts, redis, atLeastCalls, shrinks = true }: CompareOptions): Promise<void> {
  let calls = 0;
  const promise = fc.asyncProperty(scripts, async (script) => {
    const engines = [openOnRedis(redis, scriptPolicy), openLocal({ banPolicy: scriptPolicy })];
    const played = await play(script, engines);
    calls += played.length;
    for (const { replies, ...call } of played) {
      const [given, right] = replies.map(withoutMode);
      assert.deepStrictEqual({ ...call, reply: given }, { ...call, reply: right });
    }
    await everyKeyHasTtl(redis, played);
  });
  while (calls < atLeastCalls) await fc.assert(promise, { numRuns: 50, endOnFailure: !shrinks });
}

/** Rejects if a key of the played calls has no TTL. */
async function everyKeyHasTtl(redis: Redis, played: readonly Played[]): Promise<void> {
  const names = played.map(({ account, key }) => [
    `petstore:quota:2:{${account}}`,
    `petstore:quota:2:{${account}}:${key}`,
  ]);
  const ttls = await Promise.all([...new Set(names.flat())].map((name) => redis.pttl(name)));
  assert.ok(!ttls.includes(-1), "a key without a TTL");
}

/** The mode is the only thing in which engines may differ. */
function withoutMode(reply: Reply): object | undefined {
  return reply && { ...reply, mode: undefined };
}
