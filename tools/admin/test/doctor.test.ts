import { createTestDatabase, describeWithRedis, grantService, type TestDatabase } from "@petstore/harness";
import { openRedisCluster, openRedisServer } from "@petstore/harness/redis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkDatabaseTransport, checkRedisTransport } from "../src/doctor/check-transport.js";
import { openInstance } from "./instance.js";
import { runCommand } from "./run-command.js";

let database: TestDatabase;
let environment: Record<string, string>;
beforeEach(async () => {
  database = await createTestDatabase();
  environment = { DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.directUrl };
});
afterEach(() => database[Symbol.asyncDispose]());

describe("petstore doctor", () => {
  it("finds nothing wrong with a migrated database and a running instance", async () => {
    await runCommand("migrate", environment);
    await using _instance = await openInstance(environment);
    const { exitCode, printed, complained } = await runCommand("doctor", environment);
    expect({ exitCode, complained }).toEqual({ exitCode: 0, complained: "" });
    expect(printed).toMatch(/^ok +configuration: understood\nok +database: PostgreSQL 18/);
    for (const line of ["schema: current", "ms ahead of this machine", "instances: 1 running, all answer"]) {
      expect(printed.replace("behind", "ahead of")).toContain(line);
    }
    expect(printed).not.toContain("FAULT");
  });

  it("names the migrations an un-migrated database lacks", async () => {
    const { exitCode, printed } = await runCommand("doctor", environment);
    expect(exitCode).toBe(1);
    expect(printed).toContain(
      "FAULT    schema: lacks 0001-first-tables, 0002-keys-that-change, 0003-managed-keys, 0004-lasting-audit-log\n         -> Run petstore migrate",
    );
  });

  it("names every fault of the configuration, and still looks at the database", async () => {
    const { exitCode, findings } = await examine({ PORT: "70000", BAN_STRIKES: "many", LOG_LEVEL: "loud" });
    expect(exitCode).toBe(1);
    const faults = findings.filter(({ check }) => check === "configuration");
    expect(faults.map(({ found }) => found.split(" ")[0])).toEqual(["PORT", "BAN_STRIKES", "LOG_LEVEL"]);
    expect(findings).toContainEqual(expect.objectContaining({ check: "database", status: "ok" }));
  });

  it.each([
    ["postgres://someone:secret@127.0.0.1:1/petstore", "Nothing listens at 127.0.0.1:1"],
    ["", "DATABASE_URL is required"],
  ])("says why %j is no database, and shows no password", async (url, line) => {
    const { exitCode, printed } = await runCommand("doctor", { DATABASE_URL: url });
    expect(exitCode).toBe(1);
    expect(printed).toContain(line);
    expect(printed).not.toContain("secret");
  });

  it("compares the clocks", async () => {
    const { exitCode, findings } = await examine({}, { clockOffsetMs: -3_600_000 });
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: "database clock",
        status: "fault",
        found: expect.stringMatching(/^3\d{6} ms ahead of this machine/),
      }),
    );
  });

  it("counts the instances that count for themselves although there are several", async () => {
    await runCommand("migrate", environment);
    await using _one = await openInstance(environment);
    await using _other = await openInstance(environment);
    const { exitCode, findings } = await examine({});
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "instances", found: expect.stringContaining("2 count for themselves") }),
    );
  });

  it("recognises a pooler that the address does not tell of", async ({ skip }) => {
    if (database.url === database.directUrl) skip();
    await runCommand("migrate", environment);
    const url = new URL(database.url);
    url.search = "";
    const { findings } = await examine({ DATABASE_URL: url.href, DATABASE_DIRECT_URL: url.href });
    expect(findings).toContainEqual(expect.objectContaining({ check: "pooler", status: "fault" }));
    expect(findings).toContainEqual(expect.objectContaining({ check: "direct connection", status: "fault" }));
  });
});

describe("petstore doctor, of the database role,", () => {
  it("accepts a role that reads and writes rows", async () => {
    await runCommand("migrate", environment);
    const { findings } = await examine({ DATABASE_URL: await grantService(database) });
    expect(findings).toContainEqual({
      check: "database role",
      status: "ok",
      found: "petstore_service reads and writes rows, and nothing else",
    });
  });

  it("warns of a role that may create databases", async () => {
    const { findings } = await examine({});
    expect(findings).toContainEqual(
      expect.objectContaining({ status: "warning", found: "petstore may create databases or roles" }),
    );
  });
});

describe("petstore doctor, of the way to PostgreSQL,", () => {
  it.each([
    ["postgres://db.example.com/petstore", /^no TLS to db\.example\.com/],
    ["postgres://user@10.0.0.7:5433/petstore?sslmode=disable", /^no TLS to 10\.0\.0\.7:5433/],
    ["postgres://db.example.com/petstore?sslmode=no-verify", /certificate is not checked$/],
    ["postgres://db.example.com/petstore?sslmode=require&uselibpqcompat=true", /certificate is not checked$/],
  ])("warns of %s", (address, line) => {
    const finding = checkDatabaseTransport("DATABASE_URL", address);
    expect(finding).toMatchObject({ status: "warning", found: expect.stringMatching(line) });
    expect(finding.advice).toContain("sslmode=verify-full");
  });

  it.each([
    "postgres://user:secret@db.example.com/petstore?sslmode=verify-full",
    "postgres://user:secret@db.example.com/petstore?sslmode=verify-full&uselibpqcompat=true",
    "postgres://user:secret@127.0.0.1/petstore",
    "postgres://user:secret@[::1]:5432/petstore",
    "postgres://user:secret@localhost/petstore",
  ])("accepts %s", (address) => {
    const finding = checkDatabaseTransport("DATABASE_URL", address);
    expect(finding.status).toBe("ok");
    expect(JSON.stringify(finding)).not.toContain("secret");
  });
});

describe("petstore doctor, of the way to Redis,", () => {
  it.each([
    ["redis://cache.example.com", ["no TLS", "no password"]],
    ["redis://:secret@cache.example.com:6380", ["no TLS"]],
    ["rediss://cache.example.com", ["no password"]],
    ["rediss://:secret@cache.example.com", []],
    ["redis://127.0.0.1:6379", []],
  ])("says of %s: %j", (address, faults) => {
    const findings = checkRedisTransport({ urls: [address], isCluster: false, decisionTimeoutMs: 80 });
    const warnings = findings.filter(({ status }) => status === "warning");
    expect(warnings.map(({ found }) => found.split(":")[0])).toEqual(faults);
    expect(JSON.stringify(findings)).not.toContain("secret");
  });
});

describeWithRedis("petstore doctor, of Redis,", () => {
  it("finds nothing wrong with one on this machine that evicts nothing", async () => {
    await runCommand("migrate", environment);
    await using redis = await openRedisServer();
    await using _instance = await openInstance({ ...environment, REDIS_URL: redis.url });
    const { exitCode, findings } = await examine({ REDIS_URL: redis.url });
    expect(exitCode).toBe(0);
    for (const check of ["eviction", "protection"].map((what) => `redis 127.0.0.1:${redis.port} ${what}`)) {
      expect(findings).toContainEqual(expect.objectContaining({ check, status: "ok" }));
    }
  });

  it("looks at every master of a cluster, and objects to one address that does not say it is one", async () => {
    await using cluster = await openRedisCluster();
    const urls = cluster.nodes.map(({ url }) => url);
    const { findings } = await examine({ REDIS_URL: urls.join(",") });
    const modes = findings.filter(({ check }) => check.endsWith(" mode"));
    expect(modes).toHaveLength(urls.length);
    expect(modes.every(({ status, found }) => status === "ok" && found === "cluster")).toBe(true);
    const alone = await examine({ REDIS_URL: urls[0] ?? "" });
    expect(alone.findings).toContainEqual(
      expect.objectContaining({ status: "fault", found: expect.stringContaining("a node of a cluster") }),
    );
  });

  it("objects to one that evicts counters", async () => {
    await using redis = await openRedisServer({ settings: { "maxmemory-policy": "allkeys-lru" } });
    const { exitCode, findings } = await examine({ REDIS_URL: redis.url });
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual({
      check: `redis 127.0.0.1:${redis.port} eviction`,
      status: "fault",
      found: "allkeys-lru: counters and bans are forgotten when its memory is full",
      advice: "Set maxmemory-policy noeviction.",
    });
  });

  it("says that none is there, and that an instance misses it", async () => {
    await runCommand("migrate", environment);
    const lonely = await openRedisServer();
    await using _instance = await openInstance({ ...environment, REDIS_URL: lonely.url });
    await lonely[Symbol.asyncDispose]();
    const { exitCode, findings } = await examine({ REDIS_URL: lonely.url });
    expect(exitCode).toBe(1);
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "redis", status: "fault", found: expect.stringContaining("ECONNREFUSED") }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "instances", found: expect.stringContaining("cannot reach their Redis") }),
    );
  });
});

interface Found {
  readonly check: string;
  readonly status: string;
  readonly found: string;
}

async function examine(more: Readonly<Record<string, string>>, clock?: { readonly clockOffsetMs: number }) {
  const { exitCode, printed } = await runCommand("doctor --json", { ...environment, ...more }, clock);
  return { exitCode, findings: JSON.parse(printed) as Found[] };
}
