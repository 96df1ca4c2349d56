import { isWellFormedApiKey } from "@petstore/core";
import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

describe("petstore migrate", () => {
  it("brings an empty database to the current schema, and says so when there is nothing to do", async () => {
    expect(await petstore("migrate")).toMatchObject({
      exitCode: 0,
      printed: "Applied 0001-first-tables, 0002-keys-that-change, 0003-managed-keys.",
    });
    expect(await petstore("migrate")).toMatchObject({ exitCode: 0, printed: "The schema is current." });
    expect(JSON.parse((await petstore("migrate --json")).printed)).toEqual({ applied: [] });
  });
});

describe("petstore account", () => {
  beforeEach(() => petstore("migrate"));

  it("creates an account on the Free plan unless another is named", async () => {
    const free = await json("account create shop");
    expect(free).toMatchObject({ id: "1", name: "shop", plan: "free", perMinute: 60, perDay: 1000 });
    expect(await json("account create clinic --plan business")).toMatchObject({ perMinute: 1000, perDay: 100_000 });
    expect(await json("account list")).toEqual([free, expect.objectContaining({ name: "clinic" })]);
  });

  it("takes the numbers agreed with an Enterprise account, both of them, and nobody else's", async () => {
    const agreed = "--per-minute 5000 --per-day 900000";
    expect(await json(`account create big --plan enterprise ${agreed}`)).toMatchObject({
      perMinute: 5000,
      perDay: 900_000,
    });
    expect(await petstore("account create half --plan enterprise --per-day 5")).toMatchObject({ exitCode: 1 });
    expect(await petstore(`account create small --plan pro ${agreed}`)).toMatchObject({ exitCode: 1 });
  });
});

describe("a change of plan", () => {
  beforeEach(async () => {
    await petstore("migrate");
    await petstore("account create shop");
  });

  it("set-plan moves an account, to Enterprise with both its numbers", async () => {
    expect(await json("account set-plan shop pro")).toMatchObject({ name: "shop", plan: "pro", perMinute: 300 });
    const agreed = "--per-minute 2000 --per-day 300000";
    expect(await json(`account set-plan shop enterprise ${agreed}`)).toMatchObject({
      perMinute: 2000,
      perDay: 300_000,
    });
    expect(await petstore("account set-plan shop enterprise --per-day 5")).toMatchObject({ exitCode: 1 });
    expect(await petstore("account set-plan shop free --per-day 5")).toMatchObject({ exitCode: 1 });
    expect(await json("account show shop")).toMatchObject({ plan: "enterprise", perMinute: 2000, keys: [] });
  });

  it("set-limits changes the numbers of an Enterprise account, both, and of no other", async () => {
    expect(await petstore("account set-limits shop --per-minute 1 --per-day 2")).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("petstore account set-plan"),
    });
    await petstore("account set-plan shop enterprise --per-minute 2000 --per-day 300000");
    expect(await petstore("account set-limits shop --per-minute 1")).toMatchObject({ exitCode: 1 });
    expect(await json("account set-limits shop --per-minute 3000 --per-day 400000")).toMatchObject({ perMinute: 3000 });
  });

  it("show prints the account and its keys for people", async () => {
    const { id } = await json("key issue shop");
    const { printed } = await petstore("account show shop");
    expect(printed).toMatch(new RegExp(`^id +1\nname +shop\nplan +free[^]*\n\nkeys\nid  name  prefix .*\n${id} .*$`));
  });
});

describe("petstore key", () => {
  beforeEach(async () => {
    await petstore("migrate");
    await petstore("account create shop");
  });

  it("shows a new key once: no other command prints it", async () => {
    const { key, id } = await json("key issue shop");
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(key).toMatch(/^pets_live_/);
    const listed = await petstore("key list shop --json");
    expect(JSON.parse(listed.printed)).toEqual([expect.objectContaining({ id })]);
    expect(listed.printed).not.toContain(key.slice(10, 42));
  });

  it("marks a test key, and ends it at its expiry", async () => {
    expect(await json("key issue shop --test --expires 2100-01-31T00:00:00Z")).toMatchObject({
      key: expect.stringMatching(/^pets_test_/),
      expiresAt: "2100-01-31T00:00:00.000Z",
    });
  });

  it("revokes a key by its id", async () => {
    const { id } = await json("key issue shop");
    expect(await json(`key revoke ${id}`)).toMatchObject({ id, revokedAt: expect.any(String) });
    expect(await json("key list shop")).toEqual([expect.objectContaining({ revokedAt: expect.any(String) })]);
  });

  it("rotates a key: the old one ends with the grace, or earlier by its own expiry", async () => {
    const { id } = await json("key issue shop");
    const rotated = await json(`key rotate ${id} --grace 24h`);
    expect(isWellFormedApiKey(rotated.key)).toBe(true);
    expect(rotated).toMatchObject({ rotatedFrom: id, replaced: { id } });
    expect((Date.parse(rotated.replaced.endsAt) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    await petstore(`key expire ${rotated.id} --in 1h`);
    const again = await json(`key rotate ${rotated.id} --grace 7d --expires 2100-01-01`);
    expect((Date.parse(again.replaced.endsAt) - Date.now()) / 3_600_000).toBeCloseTo(1, 1);
    expect(again).toMatchObject({
      rotatedFrom: id,
      expiresAt: "2100-01-01T00:00:00.000Z",
    });
  });

  it("rotates without grace: the old key has ended", async () => {
    const { id } = await json("key issue shop");
    await petstore(`key rotate ${id} --grace 0`);
    expect(await petstore(`key rotate ${id} --grace 1h`)).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("what has ended is not rotated"),
    });
  });

  it("expires a key at a time, in a while, or now; a revoked one is past that", async () => {
    const { id } = await json("key issue shop");
    expect(await json(`key expire ${id} --at 2100-01-01`)).toMatchObject({ expiresAt: "2100-01-01T00:00:00.000Z" });
    expect(Date.parse((await json(`key expire ${id} --in 90s`)).expiresAt) - Date.now()).toBeGreaterThan(80_000);
    expect(Date.parse((await json(`key expire ${id}`)).expiresAt)).toBeLessThanOrEqual(Date.now());
    await petstore(`key revoke ${id}`);
    expect(await petstore(`key expire ${id}`)).toMatchObject({
      exitCode: 1,
      complained: "This key was revoked, which is for good.",
    });
  });

  it.each([
    ["account create shop", "There is an account of this name already."],
    ["account create a\nb", "control"],
    ["account show nobody", "There is no account of this name"],
    ["account set-plan nobody pro", "There is no account of this name"],
    ["account set-limits nobody --per-minute 1 --per-day 1", "There is no account of this name"],
    ["usage show nobody", "There is no account of this name"],
    ["usage show shop", "No instance of the store is running on this database"],
    ["ban list", "No instance of the store is running on this database"],
    ["ban list nobody", "There is no account of this name"],
    ["ban lift 99", "There is no key of this id"],
    ["key rotate 99 --grace 1h", "There is no working key of this id"],
    ["key expire 99", "There is no key of this id"],
    ["key issue nobody", "There is no account of this name"],
    ["key list nobody", "There is no account of this name"],
    ["key revoke 99", "There is no key of this id"],
    ["key revoke one", "A key's id is a whole number"],
    ["key revoke 99999999999999999999", "A key's id is a whole number"],
  ])("%s is refused with exit code 1 and one line", async (commandLine, line) => {
    const { exitCode, complained } = await petstore(commandLine);
    expect(exitCode).toBe(1);
    expect(complained).toContain(line);
    expect(complained).not.toContain("\n");
  });
});

async function petstore(commandLine: string, url?: string) {
  return runCommand(commandLine, { DATABASE_URL: url ?? database.url });
}

async function json(commandLine: string) {
  return JSON.parse((await petstore(`${commandLine} --json`)).printed);
}
