import type { Redis } from "ioredis";

/** Looks at all the keys a script can have made for its two accounts with two keys each. */
export async function assertEveryKeyHasTtl(redis: Redis, accountPrefix: string): Promise<void> {
  const accounts = [0, 1].map((account) => `petstore:quota:2:{${accountPrefix}account-${account}}`);
  const keys = accounts.flatMap((account) => [account, `${account}:key-0`, `${account}:key-1`]);
  const ttls = await Promise.all(keys.map((key) => redis.pttl(key)));
  if (ttls.includes(-1)) throw new Error("a key without a TTL");
}
