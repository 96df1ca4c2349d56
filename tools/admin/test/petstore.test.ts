import { isWellFormedApiKey } from "@petstore/core";
import { createTestDatabase, type TestDatabase } from "@petstore/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runPetstore } from "../src/program.js";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database[Symbol.asyncDispose]());

describe("petstore migrate", () => {
  it("brings an empty database to the current schema, and says so when there is nothing to do", async () => {
    expect(await petstore("migrate")).toMatchObject({ exitCode: 0, printed: "Applied 0001-first-tables." });
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

  it("refuses a name that is taken, in one line", async () => {
    await petstore("account create shop");
    expect(await petstore("account create shop")).toEqual({
      exitCode: 1,
      printed: "",
      complained: "There is an account of this name already.",
    });
  });

  it("refuses a name that would forge lines of a list", async () => {
    expect(await petstore("account create a\nb")).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("control"),
    });
  });

  it("prints a table for people", async () => {
    await petstore("account create shop");
    const { printed } = await petstore("account list");
    expect(printed.split("\n")[0]).toMatch(/^id +name +plan +perMinute +perDay +createdAt$/);
    expect(printed.split("\n")[1]).toMatch(/^1 +shop +free +60 +1000 +\d{4}-/);
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

  it.each([
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

describe("petstore", () => {
  it.each([
    "",
    "accounts",
    "account create",
    "account create x --plan gold",
    "account create x --per-minute 0",
    "key issue x --expires yesterday",
    "key issue x --expires 2001-01-01",
    "key issue x --expires 2099-02-30",
    "key issue x --expires 2099-13-01T00:00:00Z",
    "account create x --per-minute 2147483648",
    "--colour",
  ])("answers %j, which it does not understand, with exit code 2 and a hint", async (commandLine) => {
    const { exitCode, complained } = await petstore(commandLine);
    expect(exitCode).toBe(2);
    expect(complained).toMatch(/help|Usage/);
  });

  it.each(["", "migrate", "account", "account create", "account list", "key issue", "key list", "key revoke"])(
    "explains itself: %s --help",
    async (commandLine) => {
      const { exitCode, printed } = await petstore(`${commandLine} --help`);
      expect(exitCode).toBe(0);
      expect(printed).toContain("Usage: petstore");
      if (commandLine.includes(" ") || commandLine === "migrate") expect(printed).toContain("--json");
    },
  );

  it("says what to do about a database without tables", async () => {
    expect(await petstore("account list")).toMatchObject({
      exitCode: 1,
      complained: expect.stringContaining("migrate"),
    });
  });

  it("says what to do without a database, and does not show the address of one that is away", async () => {
    expect(await petstore("account list", "")).toMatchObject({
      exitCode: 1,
      complained: "There is no database: start the store with npm start, or set DATABASE_URL.",
    });
    const away = await petstore("account list", "postgres://someone:secret@127.0.0.1:1/petstore");
    expect(away).toMatchObject({ exitCode: 1, complained: expect.stringContaining("127.0.0.1") });
    expect(away.complained).not.toContain("secret");
  });
});

async function petstore(commandLine: string, url: string = database.url) {
  const printed: string[] = [];
  const complained: string[] = [];
  const exitCode = await runPetstore(commandLine.split(" ").filter(Boolean), {
    databaseUrl: async () => url || undefined,
    print: (text) => printed.push(text),
    complain: (text) => complained.push(text),
  });
  return { exitCode, printed: printed.join("\n"), complained: complained.join("\n") };
}

async function json(commandLine: string) {
  return JSON.parse((await petstore(`${commandLine} --json`)).printed);
}
