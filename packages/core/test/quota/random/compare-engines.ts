import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Redis } from "ioredis";
import { dayMs } from "../../../src/quota/window.js";
import type { OpenedQuota } from "../caller.js";
import { type Played, play, type Reply, type Script } from "./operations.js";

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

export interface Compared {
  readonly calls: number;
  /** The first call with different replies, and the difference. Undefined when all replies were equal. */
  readonly difference?: string;
}

/** Plays random scripts on two engines at once and compares every reply in full. */
export async function compareEngines(options: CompareOptions): Promise<Compared> {
  const { scripts, open, name, seed, atLeastCalls, shrinks = true, inspect } = options;
  let calls = 0;
  let plays = 0;
  const property = fc.asyncProperty(scripts, async (script) => {
    plays += 1;
    const prefix = `${name}-${plays}-`;
    const played = await play(script, open(), { fallBackMs: 2 * dayMs, prefix });
    calls += played.length;
    const different = played.find(({ replies: [given, right] }) => {
      return !isDeepStrictEqual(withoutMode(given), withoutMode(right));
    });
    if (different !== undefined) throw new Error(describeDifference(different));
    await inspect?.(prefix);
  });
  for (let batch = 0; calls < atLeastCalls; batch += 1) {
    const batchSeed = seed + batch * 1_000_003;
    const result = await fc.check(property, { numRuns: 50, seed: batchSeed, endOnFailure: !shrinks });
    if (!result.failed) continue;
    const reason = result.errorInstance instanceof Error ? result.errorInstance.message : `${result.errorInstance}`;
    const script = shrinks ? ` (seed ${batchSeed}; ${fc.stringify(result.counterexample)})` : "";
    return { calls, difference: `${reason}${script}` };
  }
  return { calls };
}

/** Rejects if a key of a script has no TTL. A script has two accounts with two API keys each. */
export async function everyKeyHasTtl(redis: Redis, accountPrefix: string): Promise<void> {
  const accounts = [0, 1].map((account) => `petstore:quota:2:{${accountPrefix}account-${account}}`);
  const keys = accounts.flatMap((account) => [account, `${account}:key-0`, `${account}:key-1`]);
  const ttls = await Promise.all(keys.map((key) => redis.pttl(key)));
  if (ttls.includes(-1)) throw new Error("a key without a TTL");
}

/** The name of the call and the first field that differs. */
function describeDifference({ call, cost, replies: [given, right] }: Played): string {
  const name = cost > 0 ? `${call} ${cost}` : call;
  return `${name}: ${firstDifference(withoutMode(given), withoutMode(right))}`;
}

/** The mode is the only thing in which engines may differ. */
function withoutMode(reply: Reply): object | undefined {
  if (reply === undefined || !("mode" in reply)) return reply;
  const { mode, ...rest } = reply;
  return rest;
}

function firstDifference(given: unknown, right: unknown, path = "reply"): string {
  if (!isRecord(given) || !isRecord(right)) return `${path} ${String(given)}, not ${String(right)}`;
  const fields = [...new Set([...Object.keys(right), ...Object.keys(given)])];
  const field = fields.find((name) => !isDeepStrictEqual(given[name], right[name])) ?? "";
  return firstDifference(given[field], right[field], path === "reply" ? field : `${path}.${field}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
