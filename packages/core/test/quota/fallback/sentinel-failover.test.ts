import { describeWithRedis } from "@petstore/harness";
import { openRedisSentinels, type RedisServer } from "@petstore/harness/redis";
import { it } from "vitest";
import { admitAll, messages, newAccount, openQuotasOnRedis } from "./quotas-on-redis.js";

/** The sentinels need about 2 s to promote a replica, and more on a busy machine. */
const recovers = { timeout: 30_000 };

// Each of the concurrent tests starts six processes, which end with this one.
process.setMaxListeners(50);

describeWithRedis("the quota on a Redis behind Sentinel", () => {
  it.concurrent("logs in to primary and sentinels, and watches these when they accept the password at last", async ({
    expect,
  }) => {
    await using group = await openRedisSentinels({ password: "p@ss,word" });
    const setPassword = (password: string) =>
      Promise.all(
        group.sentinels.map((sentinel) =>
          sentinel.command("ACL", "SETUSER", "watcher", "reset", "on", `>${password}`, "+@all", "&*"),
        ),
      );
    await setPassword("old");
    const login = { sentinelUsername: "watcher", sentinelPassword: "new" };
    using opened = await openQuotasOnRedis({ urls: [group.url], ...login });
    expect(opened.mode()).toBe("fallback");
    await setPassword("new");
    await expect.poll(opened.mode, recovers).toBe("shared");
    for (const sentinel of group.sentinels) {
      await expect.poll(() => sentinel.command("CLIENT", "LIST"), recovers).toMatch(/ sub=1 .* user=watcher /);
    }
    const account = newAccount(100);
    await admitAll(opened, account, 1);
    expect(await hasCounted(await group.primary(), account)).toBe(true);
  });

  it.concurrent("decides alone after a kill, and counts on the promoted replica, although a sentinel hangs", async ({
    expect,
  }) => {
    await using group = await openRedisSentinels();
    using opened = await openQuotasOnRedis({ urls: [group.url] });
    const account = newAccount(1_000);
    await admitAll(opened, account, 10);
    group.sentinels[0]?.pause();
    const old = await group.primary();
    await old.kill();
    await admitAll(opened, account, 10);
    const promoted = await group.primary({ not: old });
    await expect.poll(opened.mode, recovers).toBe("shared");
    expect(await opened.accounts.reserve(account)).toMatchObject({ mode: "shared", day: { used: 21 } });
    expect(await hasCounted(promoted, account)).toBe(true);
  });

  it.concurrent("leaves a primary that stopped and continues after the promotion, although no call was made", async ({
    expect,
  }) => {
    await using group = await openRedisSentinels();
    using opened = await openQuotasOnRedis({ urls: [group.url] });
    const old = await group.primary();
    old.pause();
    const promoted = await group.primary({ not: old });
    await expect.poll(() => opened.logged.at(-1), recovers).toBe(messages.recovered);
    old.resume();
    // The sentinels make it a replica only seconds later.
    const account = newAccount(100);
    await admitAll(opened, account, 5);
    expect(await hasCounted(promoted, account)).toBe(true);
    expect(await hasCounted(old, account)).toBe(false);
  });
});

async function hasCounted(server: RedisServer, { account }: { readonly account: string }): Promise<boolean> {
  return (await server.command("EXISTS", `petstore:quota:2:{${account}}`)) === 1;
}
