import type { RedisConfig } from "@petstore/core";
import { describeWithRedis, shared } from "@petstore/harness";
import { openRedisSentinels } from "@petstore/harness/redis";
import { expect, it } from "vitest";
import { checkRedis } from "../src/doctor/check-redis.js";
import type { Finding } from "../src/doctor/finding.js";

describeWithRedis("petstore doctor, of a Redis behind Sentinel,", async () => {
  const login = { sentinelPassword: "other-secret" };
  const group = await shared(openRedisSentinels({ password: "secret", ...login }));

  it("shows the primary, the replicas and the quorum, and warns of a primary that needs no replica", async () => {
    const findings = await examine({ urls: [group.url], ...login });
    const primary = `127.0.0.1:${(await group.primary()).port}`;
    expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
    for (const { port } of group.sentinels) {
      const quorum = "OK 3 usable Sentinels. Quorum and failover authorization can be reached";
      expect(findings).toContainEqual({ check: `sentinel 127.0.0.1:${port} quorum`, status: "ok", found: quorum });
      expect(findings).toContainEqual(expect.objectContaining({ status: "ok", found: "2 can take over" }));
    }
    expect(findings).toContainEqual({ check: "sentinel primary", status: "ok", found: primary });
    expect(JSON.stringify(findings)).not.toContain("secret");
    await group.servers[0]?.command("CONFIG", "SET", "min-replicas-to-write", 0);
    const again = await examine({ urls: [group.url], ...login });
    expect(again.filter(({ status }) => status !== "ok").map(({ check }) => check)).toEqual([
      `redis ${primary} writes`,
    ]);
  });

  it("objects to a user of the sentinels that may not subscribe", async () => {
    const [sentinel] = group.sentinels;
    await sentinel?.command("ACL", "SETUSER", "watcher", "reset", "on", ">secret", "+@all", "-subscribe");
    const watcher = { sentinelUsername: "watcher", sentinelPassword: "secret" };
    expect(faultsOf(await examine({ urls: [group.url], ...watcher }))).toContainEqual([
      `sentinel 127.0.0.1:${sentinel?.port}`,
      expect.stringContaining("NOPERM"),
    ]);
  });

  it("objects to sentinels that do not answer, to a majority that is lost, and to a wrong name", async () => {
    const [first, second, third] = group.sentinels;
    await first?.kill();
    second?.pause();
    await expect
      .poll(async () => faultsOf(await examine({ urls: [group.url], ...login })), { interval: 500 })
      .toEqual([
        [`sentinel 127.0.0.1:${first?.port}`, expect.stringContaining("ECONNREFUSED")],
        [`sentinel 127.0.0.1:${second?.port}`, "cannot be used: no answer"],
        [`sentinel 127.0.0.1:${third?.port} quorum`, expect.stringMatching(/^NOQUORUM/)],
      ]);
    second?.resume();
    const named = faultsOf(await examine({ urls: [group.url.replace(/petstore$/, "nothing")], ...login }));
    expect(named).toContainEqual([
      `sentinel 127.0.0.1:${third?.port}`,
      "cannot be used: ERR No such master with that name",
    ]);
    expect(named.at(-1)).toEqual(["redis", expect.stringMatching(/^nothing behind the sentinels cannot be used/)]);
  });
});

function examine(config: Omit<RedisConfig, "isCluster" | "decisionTimeoutMs">): Promise<Finding[]> {
  return checkRedis({ ...config, isCluster: false, decisionTimeoutMs: 1_000 }, Date.now);
}

function faultsOf(findings: readonly Finding[]): [check: string, found: string][] {
  return findings.filter(({ status }) => status === "fault").map(({ check, found }) => [check, found]);
}
