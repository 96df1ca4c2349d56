import assert from "node:assert/strict";
import fc from "fast-check";
import type { Redis } from "ioredis";
import { dayMs } from "../../../src/quota/window.js";
import type { OpenedQuota } from "../caller.js";
import { play, type Reply, type Script } from "./operations.js";

export interface CompareOptions {
  readonly scripts: fc.Arbitrary<Script>;
  /** Opens the engine under test and the reference engine, for each script. */
  readonly open: () => readonly [OpenedQuota, OpenedQuota];
  /** Keeps the accounts of one comparison apart from those of another on the same store. */
  readonly name: string;
  readonly seed: number;
  /** Compares scripts until they have made that many calls. */
  readonly atLeastCalls: number;
  /** Also looks for the shortest script that shows a difference. */
  readonly shrinks?: boolean;
  /** Rejects when something other than a reply is wrong. */
  readonly inspect?: (accountPrefix: string) => Promise<void>;
}

/** Plays random scripts on two engines at once and compares every reply in full. Returns undefined when all were equal. */
export async function findDifference(options: CompareOptions): Promise<string | undefined> {
  const { scripts, open, name, seed, atLeastCalls, shrinks = true, inspect } = options;
  let calls = 0;
  let plays = 0;
  const property = fc.asyncProperty(scripts, async (script) => {
    plays += 1;
    const prefix = `${name}-${plays}-`;
    const played = await play(script, open(), { fallBackMs: 2 * dayMs, prefix });
    calls += played.length;
    for (const { replies, ...call } of played) {
      const [given, right] = replies.map(withoutMode);
      assert.deepStrictEqual({ ...call, reply: given }, { ...call, reply: right });
    }
    await inspect?.(prefix);
  });
  for (let batch = 0; calls < atLeastCalls; batch += 1) {
    const result = await fc.check(property, { numRuns: 50, seed: seed + batch, endOnFailure: !shrinks });
    if (result.failed) return fc.defaultReportMessage(result);
  }
  return undefined;
}

/** Rejects if a key of a script has no TTL. A script has two accounts with two API keys each. */
export async function everyKeyHasTtl(redis: Redis, accountPrefix: string): Promise<void> {
  const accounts = [0, 1].map((account) => `petstore:quota:2:{${accountPrefix}account-${account}}`);
  const keys = accounts.flatMap((account) => [account, `${account}:key-0`, `${account}:key-1`]);
  const ttls = await Promise.all(keys.map((key) => redis.pttl(key)));
  assert.ok(!ttls.includes(-1), "a key without a TTL");
}

/** The mode is the only thing in which engines may differ. */
function withoutMode(reply: Reply): object | undefined {
  return reply && { ...reply, mode: undefined };
}
