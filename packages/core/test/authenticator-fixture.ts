import { randomBytes } from "node:crypto";
import { digestApiKey, mintApiKey } from "../src/access/api-key.js";
import { createAuthenticator, type KeyWithLimits } from "../src/access/authenticator.js";
import { Problem } from "../src/problem.js";
import { limitsOf } from "../src/quota/plan.js";

export const accepted: object = { outcome: "accepted", key: { id: 7n }, isStale: false };
export const stale: object = { outcome: "accepted", key: { id: 7n }, isStale: true };
export const rejected = (code: string): object => ({ outcome: "rejected", problem: { code } });
export const unavailable: object = { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 };

/** An authenticator on a clock that the test moves, and a database with one key, of account 3. */
export function openAuthenticator(given: Partial<KeyWithLimits> = {}) {
  const row: { -readonly [Name in keyof KeyWithLimits]: KeyWithLimits[Name] } = {
    id: 7n,
    accountId: 3n,
    createdAt: new Date(0),
    plan: "free",
    limits: limitsOf({ plan: "free" }),
    lineage: 7n,
    ...given,
  };
  const known = mintApiKey("live", randomBytes);
  const clock = { nowMs: 1_000_000 };
  const lookUps: string[] = [];
  let held: Promise<void> | undefined;
  const database = {
    isUnreachable: false,
    isEmpty: false,
    fault: undefined as Error | undefined,
    /** Reads the rows now, and returns them after the release. */
    hold() {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return { release };
    },
  };
  const findByDigest = async (digest: string) => {
    lookUps.push(digest);
    const found = digest === digestApiKey(known) && !database.isEmpty ? { ...row } : undefined;
    const before = held;
    held = undefined;
    await before;
    if (database.isUnreachable) throw new Problem("SERVICE_UNAVAILABLE", undefined, { retryAfterSeconds: 1 });
    if (database.fault !== undefined) throw database.fault;
    return found;
  };
  const authenticator = createAuthenticator({ keys: { findByDigest }, monotonicNow: () => clock.nowMs });
  const authenticate = async (token: string, client = "a client") => authenticator.authenticate(token, client);
  return { authenticator, authenticate, clock, known, lookUps, database, row };
}
