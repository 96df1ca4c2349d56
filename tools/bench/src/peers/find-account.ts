import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";

/** The key check of the peers with limits: finds the account of a bearer token, and remembers it for five seconds. */
export function createFindAccount(pool: Pool): (authorization: string | undefined) => Promise<string | undefined> {
  const known = new LRUCache<string, string>({ max: 10_000, ttl: 5_000 });
  return async (authorization) => {
    const key = authorization?.replace(/^Bearer /, "") ?? "";
    const account = known.get(key);
    if (account !== undefined) return account;
    const digest = createHash("sha256").update(key).digest();
    const { rows } = await pool.query<{ account_id: number }>("select account_id from api_keys where digest = $1", [
      digest,
    ]);
    const found = rows[0] && `${rows[0].account_id}`;
    if (found !== undefined) known.set(key, found);
    return found;
  };
}
