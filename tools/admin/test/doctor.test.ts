import { createTestDatabase, describeWithRedis, grantService, shared } from "@petstore/harness";
import { openImpostor, openSession, query } from "@petstore/harness/postgres";
import { openRedisCluster, openRedisSentinels, openRedisServer } from "@petstore/harness/redis";
import { describe, expect, it } from "vitest";
import { checkDatabaseTransport, checkRedisTransport } from "../src/doctor/check-transport.js";
import type { Finding } from "../src/doctor/finding.js";
import { finding, openInstance, runCommand, useDatabase } from "./run-command.js";

const { database, environment, petstore, json } = await useDatabase("migrate");

describe("petstore doctor", () => {
  it("finds nothing wrong with a migrated database and a running instance", async () => {
    await using _instance = await openInstance(environment);
    const { exitCode, printed, complained } = await petstore("doctor");
    expect({ exitCode, complained }).toEqual({ exitCode: 0, complained: "" });
    expect(printed).toMatch(/^ok +configuration: understood\nok +database: PostgreSQL 18/);
    for (const line of ["schema: current", "ms ahead of this machine", "instances: 1 running, all answer"]) {
      expect(printed.replace("behind", "ahead of")).toContain(line);
    }
    expect(printed).toMatch(/^ok +DATABASE_URL transport: stays on this machine$/m);
    expect(printed).not.toContain("FAULT");
  });

  it("names every fault of the configuration, and still looks at the database", async () => {
    const { exitCode, findings } = await examine({ PORT: "70000", BAN_STRIKES: "many", LOG_LEVEL: "loud" });
    expect(exitCode).toBe(1);
    const faults = findings.filter(({ check }) => check === "configuration");
    expect(faults.map(({ found }) => found.split(" ")[0])).toEqual(["PORT", "BAN_STRIKES", "LOG_LEVEL"]);
    expect(findings).toContainEqual(finding("ok", "database"));
  });

  it("reports a database whose encoding cannot hold every name", async () => {
    await using latin = await createTestDatabase({ encoding: "LATIN1" });
    const { findings } = await examine({ DATABASE_URL: latin.url, DATABASE_DIRECT_URL: latin.directUrl });
    expect(findings).toContainEqual(finding("fault", "database encoding", /LATIN1, which cannot hold every name$/));
    expect((await examine({})).findings).toContainEqual(finding("ok", "database encoding", /^UTF8$/));
  });

  it("names the cure for a server that asks for the password in clear text, and sends it none, as all commands", async () => {
    await using impostor = await openImpostor({ asksFor: "cleartext" });
    const DATABASE_URL = `postgres://user:a-secret@127.0.0.1:${impostor.port}/petstore`;
    const { exitCode, findings } = await examine({ DATABASE_URL, DATABASE_DIRECT_URL: "" });
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual(
      finding("fault", "database", /asks for the password in clear text .* scram-sha-256/),
    );
    for (const command of ["migrate", "account list"]) {
      const { complained } = await runCommand(command, { DATABASE_URL });
      expect(complained).toMatch(/^[^\n]*asks for the password in clear text[^\n]*$/);
    }
    expect(impostor.received()).toContain("petstore-doctor");
    expect(impostor.received()).not.toContain("a-secret");
  });

  it("waits for an insert that ends, and names a transaction that holds an insert open", async () => {
    const insert = "insert into pets (name, category_id, status) values ('Rex', 1, 'sold')";
    await using session = await openSession(database.directUrl);
    await session.query(`begin; ${insert}`);
    const [holder] = await session.query("select pg_backend_pid() as pid");
    const held = new RegExp(`^held open for more than 5 s by process ${holder?.pid} of \\w+$`);
    expect((await examine({})).findings).toContainEqual(finding("warning", "inserts of pets", held));
    const examined = examine({});
    await session.query("commit");
    expect((await examined).findings).toContainEqual(finding("ok", "inserts of pets", /^none is held open$/));
  });

  it("names keys in use that end soon, at most ten of them", async () => {
    const none = finding("ok", "keys", /^none that is in use ends within 14 days$/);
    expect((await examine({})).findings).toContainEqual(none);
    await petstore("account create shop");
    const { id, expiresAt } = await json("key issue shop --name website");
    expect(expiresAt).toBeUndefined();
    await json(`key rotate ${id} --grace 24h`);
    // Nobody uses it.
    expect((await examine({})).findings).toContainEqual(none);
    const use = "update api_keys set last_used_on = (now() at time zone 'UTC')::date";
    await query(database.directUrl, use);
    const one = new RegExp(`^1 in use ends within 14 days: key ${id} of shop at \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$`);
    const { exitCode, findings } = await examine({});
    expect(exitCode).toBe(0);
    expect(findings).toContainEqual(finding("warning", "keys", one));
    for (let issued = 0; issued < 11; issued += 1) await petstore("key issue shop");
    await query(database.directUrl, `${use}, expires_at = now() + interval '1 day'`);
    const many = /^13 in use end within 14 days: (key \d+ of shop at [\dTZ:.-]+, ){10}and 3 more$/;
    expect((await examine({})).findings).toContainEqual(finding("warning", "keys", many));
    await query(database.directUrl, "truncate accounts cascade");
  });

  it("compares the clocks", async () => {
    const { exitCode, findings } = await examine({}, { clockOffsetMs: -3_600_000 });
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual(finding("fault", "database clock", /^3\d{6} ms ahead of this machine/));
  });

  it("counts the instances that count for themselves although there are several", async () => {
    await using _one = await openInstance(environment);
    await using _other = await openInstance(environment);
    const { exitCode, findings } = await examine({});
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual(finding("fault", "instances", /^2 count for themselves/));
  });

  it("recognises a pooler that the address does not tell of", async ({ skip }) => {
    if (database.url === database.directUrl) skip();
    const url = new URL(database.url);
    url.search = "";
    const { findings } = await examine({ DATABASE_URL: url.href, DATABASE_DIRECT_URL: url.href });
    expect(findings).toContainEqual(finding("fault", "pooler"));
    expect(findings).toContainEqual(finding("fault", "direct connection"));
  });

  it("warns of a role that may do more than read and write rows, or that may change the audit log", async () => {
    const serviceUrl = await grantService(database);
    const roleOf = async (url: string) =>
      (await examine({ DATABASE_URL: url })).findings.filter(({ check }) => check === "database role");
    expect(await roleOf(serviceUrl)).toEqual([
      finding("ok", "database role", /^petstore_service reads and writes rows/),
    ]);
    expect(await roleOf(database.url)).toEqual([
      finding("warning", "database role", / may create databases or roles$/),
    ]);
    for (const [grant, excess] of [
      ["grant update on audit_log to petstore_service", / may change and delete entries of the audit log$/],
      ["grant create on schema public to petstore_service", / may create, alter or drop tables$/],
    ] as const) {
      await query(database.directUrl, grant);
      expect(await roleOf(serviceUrl)).toEqual([finding("warning", "database role", excess)]);
    }
  });
});

describe("petstore doctor, of the way to the servers,", () => {
  it.each([
    ["postgres://db.example.com/petstore", /^no TLS to db\.example\.com/],
    ["postgres://user@10.0.0.7:5433/petstore?sslmode=disable", /^no TLS to 10\.0\.0\.7:5433/],
    ["postgres://db.example.com/petstore?sslmode=no-verify", /certificate is not checked$/],
    ["postgres://db.example.com/petstore?sslmode=require&uselibpqcompat=true", /certificate is not checked$/],
    ["postgres://user:secret@localhost/petstore?host=db.example.com", /^no TLS to db\.example\.com/],
    ["postgres://user:secret@db.example.com/petstore?ssl=true", undefined],
    ["postgres://user:secret@%2Ftmp/petstore", undefined],
    ["postgres://user:secret@db.example.com/petstore?sslmode=verify-full", undefined],
    ["postgres://user:secret@db.example.com/petstore?sslmode=verify-full&uselibpqcompat=true", undefined],
    ["postgres://user:secret@127.0.0.1/petstore", undefined],
  ])("says of %s: %s", (address, objection) => {
    const found = checkDatabaseTransport("DATABASE_URL", address);
    expect(found).toEqual(finding(objection ? "warning" : "ok", "DATABASE_URL transport", objection));
    if (objection) expect(found.advice).toContain("sslmode=verify-full");
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  it.each([
    ["redis://cache:6379", "", ["redis cache:6379: no TLS", "redis cache:6379: no password"]],
    ["redis://:secret@cache:6380", "", ["redis cache:6380: no TLS"]],
    ["rediss://cache", "", ["redis cache: no password"]],
    ["rediss://:secret@cache", "", []],
    ["redis://127.0.0.1:6379", "", []],
    [
      "redis+sentinel://127.0.0.1,b/m",
      "",
      ["redis m: no TLS", "redis m: no password", "sentinels: no TLS", "sentinels: no password"],
    ],
    ["rediss+sentinel://:secret@a,b/m", "", ["sentinels: no password"]],
    ["rediss+sentinel://a/m", "secret", ["redis m: no password"]],
    ["rediss+sentinel://:secret@a,b/m", "secret", []],
    ["redis+sentinel://127.0.0.1,[::1]/m", "", []],
  ])("says of %s with the password %j of the sentinels: %j", (url, sentinelPassword, objections) => {
    const findings = checkRedisTransport({ urls: [url], sentinelPassword, isCluster: false, decisionTimeoutMs: 80 });
    const warnings = findings.filter(({ status }) => status === "warning");
    const texts = warnings.map(({ check, found }) => `${check.replace(" protection", "")}: ${found.split(":")[0]}`);
    expect(texts).toEqual(objections);
    expect(JSON.stringify(findings)).not.toContain("secret");
  });
});

describeWithRedis("petstore doctor, of Redis,", () => {
  it("finds nothing wrong with one on this machine, and objects to one that evicts counters", async () => {
    await using redis = await openRedisServer();
    await using _instance = await openInstance({ ...environment, REDIS_URL: redis.url });
    const { exitCode, findings } = await examine({ REDIS_URL: redis.url });
    expect(exitCode).toBe(0);
    const name = `redis 127.0.0.1:${redis.port}`;
    expect(findings).toContainEqual(finding("ok", `${name} protection`));
    await redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    expect(await examine({ REDIS_URL: redis.url })).toEqual({
      exitCode: 1,
      findings: expect.arrayContaining([finding("fault", `${name} eviction`, /^allkeys-lru: counters/)]),
    });
  });

  it("looks at every master of a cluster, and objects to one address that does not say it is one", async () => {
    await using cluster = await openRedisCluster();
    const urls = cluster.nodes.map(({ url }) => url);
    const { findings } = await examine({ REDIS_URL: urls.join(",") });
    const modes = findings.filter(({ check }) => check.endsWith(" mode"));
    expect(modes).toEqual(urls.map(() => finding("ok", /./, /^cluster$/)));
    const alone = await examine({ REDIS_URL: urls[0] ?? "" });
    expect(alone.findings).toContainEqual(finding("fault", / mode$/, /^a node of a cluster/));
  });

  it("says what it could not check for a user without INFO, whose shared quota works", async () => {
    await using server = await openRedisServer({ settings: { "maxmemory-policy": "noeviction" } });
    const rights = ["~petstore:quota:*", "+eval", "+evalsha", "+time", "+mget", "+set", "+del"];
    await server.command("ACL", "SETUSER", "petstore", "on", ">secret", ...rights);
    const { printed } = await runCommand("doctor --json", { ...environment, REDIS_URL: withUser(server.url) });
    const findings = (JSON.parse(printed) as Finding[]).filter(({ check }) => check.startsWith("redis"));
    expect(findings).toContainEqual(finding("ok", "redis quota", /counts/));
    expect(findings).toContainEqual(
      finding("warning", /^redis [\d.:]+$/, /cannot be checked, because the user may not call INFO/),
    );
    expect(findings).toContainEqual(finding("ok", / clock$/, /ms/));
    expect(findings.filter(({ status }) => status === "fault")).toEqual([]);
    expect(printed).not.toMatch(/decides alone|secret/);
  });

  it.each(["+eval", "+time", "+mget", "+set", "+del", "~petstore:quota:*"])(
    "says that each instance decides alone if the user lacks the right %s",
    async (missing) => {
      await using server = await openRedisServer();
      const rights = ["~petstore:quota:*", "+info", "+eval", "+evalsha", "+time", "+mget", "+set", "+del"];
      const given = rights.filter((right) => right !== missing);
      await server.command("ACL", "SETUSER", "petstore", "on", ">secret", ...given);
      const { findings } = await examine({ REDIS_URL: withUser(server.url) });
      const quota = findings.find(({ check }) => check === "redis quota");
      expect(quota).toMatchObject({
        status: "fault",
        advice: expect.stringMatching(/rights.*; until then each instance/),
      });
      expect(findings).toContainEqual(finding("ok", / mode$/, /^single$/));
    },
  );

  it("says that none is there, and that an instance misses it", async () => {
    const lonely = await openRedisServer();
    await using _instance = await openInstance({ ...environment, REDIS_URL: lonely.url });
    await lonely[Symbol.asyncDispose]();
    const { exitCode, findings } = await examine({ REDIS_URL: lonely.url });
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual(finding("fault", "redis", /ECONNREFUSED/));
    expect(findings).toContainEqual(finding("fault", "instances", /cannot reach their Redis/));
  });
});

describeWithRedis("petstore doctor, of a Redis behind Sentinel,", async () => {
  const sentinelPassword = "other-secret";
  const group = await shared(openRedisSentinels({ password: "secret", sentinelPassword }));
  const examineGroup = async (more: Readonly<Record<string, string>> = {}) => {
    const environment = { REDIS_URL: group.url, REDIS_SENTINEL_PASSWORD: sentinelPassword, ...more };
    const { findings } = await examine(environment);
    return findings.filter(({ check }) => /^(redis|sentinel)/.test(check));
  };

  it("shows the primary, the replicas and the quorum, and warns of a primary that needs no replica", async () => {
    const findings = await examineGroup();
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
    const again = await examineGroup();
    expect(again.filter(({ status }) => status !== "ok").map(({ check }) => check)).toEqual([
      `redis ${primary} writes`,
    ]);
  });

  it("objects to a user of the sentinels that may not subscribe", async () => {
    const [sentinel] = group.sentinels;
    await sentinel?.command("ACL", "SETUSER", "watcher", "reset", "on", ">secret", "+@all", "-subscribe");
    const watcher = { REDIS_SENTINEL_USERNAME: "watcher", REDIS_SENTINEL_PASSWORD: "secret" };
    expect(faultsOf(await examineGroup(watcher))).toContainEqual([
      `sentinel 127.0.0.1:${sentinel?.port}`,
      expect.stringContaining("NOPERM"),
    ]);
  });

  it("objects to sentinels that do not answer, to a majority that is lost, and to a wrong name", async () => {
    const [first, second, third] = group.sentinels;
    await first?.kill();
    second?.pause();
    await expect
      .poll(async () => faultsOf(await examineGroup()), { interval: 500 })
      .toEqual([
        [`sentinel 127.0.0.1:${first?.port}`, expect.stringContaining("ECONNREFUSED")],
        [`sentinel 127.0.0.1:${second?.port}`, "cannot be used: no answer"],
        [`sentinel 127.0.0.1:${third?.port} quorum`, expect.stringMatching(/^NOQUORUM/)],
      ]);
    second?.resume();
    const named = faultsOf(await examineGroup({ REDIS_URL: group.url.replace(/petstore$/, "nothing") }));
    expect(named).toContainEqual([
      `sentinel 127.0.0.1:${third?.port}`,
      "cannot be used: ERR No such master with that name",
    ]);
    expect(named.at(-1)).toEqual(["redis", expect.stringMatching(/^nothing behind the sentinels cannot be used/)]);
  });
});

function withUser(url: string): string {
  return url.replace("//", "//petstore:secret@");
}

async function examine(more: Readonly<Record<string, string>>, clock?: { readonly clockOffsetMs: number }) {
  const { exitCode, printed } = await runCommand("doctor --json", { ...environment, ...more }, clock);
  return { exitCode, findings: JSON.parse(printed) as Finding[] };
}

function faultsOf(findings: readonly Finding[]): [check: string, found: string][] {
  return findings.filter(({ status }) => status === "fault").map(({ check, found }) => [check, found]);
}
