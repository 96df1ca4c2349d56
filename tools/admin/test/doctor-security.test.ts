import { createTestDatabase, describeWithRedis, grantService, type TestDatabase } from "@petstore/harness";
import { openRedisServer } from "@petstore/harness/redis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkDatabaseTransport, checkRedisTransport } from "../src/doctor/check-transport.js";
import { runCommand } from "./run-command.js";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

describe("petstore doctor, of the database role,", () => {
  it("accepts a role that reads and writes rows", async () => {
    await runCommand("migrate", { DATABASE_URL: database.directUrl });
    const found = await examine({ DATABASE_URL: await grantService(database) });
    expect(found("database role")).toEqual([
      expect.objectContaining({ status: "ok", found: "petstore_service reads and writes rows, and nothing else" }),
    ]);
    expect(found("DATABASE_URL transport")).toEqual([expect.objectContaining({ status: "ok" })]);
  });

  it("warns of a role that may create databases", async () => {
    const found = await examine({ DATABASE_URL: database.directUrl });
    expect(found("database role")).toEqual([
      expect.objectContaining({ status: "warning", found: "petstore may create databases or roles" }),
    ]);
  });
});

describe("the petstore command, as the role of the services,", () => {
  it("finds the schema current, and makes accounts and keys", async () => {
    await runCommand("migrate", { DATABASE_URL: database.directUrl });
    const environment = { DATABASE_URL: await grantService(database) };
    expect(await runCommand("migrate", environment)).toMatchObject({ exitCode: 0, printed: "The schema is current." });
    for (const command of [
      ...["account create shop --plan pro", "account set-plan shop business", "account list", "key issue shop"],
      ...["key list shop", "key rotate 1 --grace 1h", "key expire 2 --in 1h", "key revoke 2", "ban lift 1"],
    ]) {
      const { exitCode, complained } = await runCommand(command, environment);
      expect({ command, exitCode, complained }).toEqual({ command, exitCode: 0, complained: "" });
    }
  });

  it("cannot migrate, and says why", async () => {
    const { exitCode, complained } = await runCommand("migrate", { DATABASE_URL: await grantService(database) });
    expect(exitCode).toBe(1);
    expect(complained).toContain("may not do this in its database");
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

describeWithRedis("petstore doctor, of a Redis on this machine,", () => {
  it("has no objection to one without a password", async () => {
    await using redis = await openRedisServer();
    const found = await examine({ DATABASE_URL: database.url, REDIS_URL: redis.url });
    expect(found(`redis 127.0.0.1:${redis.port} protection`)).toEqual([expect.objectContaining({ status: "ok" })]);
  });
});

interface Found {
  readonly check: string;
  readonly status: string;
  readonly found: string;
}

/** The findings of the doctor, by check. */
async function examine(environment: Readonly<Record<string, string>>): Promise<(check: string) => Found[]> {
  const { printed } = await runCommand("doctor --json", environment);
  const findings = JSON.parse(printed) as Found[];
  return (check) => findings.filter((finding) => finding.check === check);
}
