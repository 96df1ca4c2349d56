import { readFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openInstance } from "./instance.js";
import { runCommand } from "./run-command.js";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await petstore("migrate");
  await petstore("account create shop");
});
afterEach(() => database[Symbol.asyncDispose]());

describe("a managed key", () => {
  it("is issued with a name and a scope, and listed with them and its visible prefix", async () => {
    const { key, ...record } = await json("key issue shop --name website --scope read");
    expect(record).toMatchObject({ name: "website", scope: "read", prefix: key.slice(0, 18) });
    expect(await json("key list shop")).toEqual([record]);
    expect(await json("key issue shop")).toMatchObject({ scope: "both" });
  });

  it("is changed: its name, its scope, or both", async () => {
    const { id } = await json("key issue shop --name website");
    expect(await json(`key change ${id} --scope write`)).toMatchObject({ id, name: "website", scope: "write" });
    expect(await json(`key change ${id} --name form --scope both`)).toMatchObject({ name: "form", scope: "both" });
  });

  it("is rotated to a key of the same mode, name and scope", async () => {
    for (const [option, start] of [
      ["", "pets_live_"],
      ["--test", "pets_test_"],
    ]) {
      const { id } = await json(`key issue shop --name website --scope write ${option}`);
      const rotated = await json(`key rotate ${id} --grace 1h`);
      expect(rotated).toMatchObject({ name: "website", scope: "write", key: expect.stringContaining(`${start}`) });
    }
  });

  it("is revoked with all other keys of its account", async () => {
    const [first, second] = [await json("key issue shop"), await json("key issue shop")];
    const revoked = await json("key revoke --all shop");
    expect(revoked.map(({ id }: { id: string }) => id).sort()).toEqual([first.id, second.id]);
    for (const record of await json("key list shop")) expect(record.revokedAt).toEqual(expect.any(String));
    expect(await json("key revoke --all shop"), "again").toEqual([]);
  });
});

describe("petstore key find", () => {
  it("shows which key a text is, and never the key", async () => {
    await petstore("account create other");
    await petstore("key issue other");
    const { key, ...record } = await json("key issue shop --name website");
    // The last one is a key with a typing error at its end.
    for (const text of [key, key.slice(0, 18), key.slice(0, 30), `${key.slice(0, -1)}-`]) {
      const { printed } = await petstore(`key find ${text} --json`);
      expect(JSON.parse(printed)).toEqual([{ account: "shop", ...record }]);
      expect(printed).not.toContain(key.slice(0, 19));
    }
  });

  it("reads the key from standard input, so that it is in no list of processes", async () => {
    const { key, id } = await json("key issue shop");
    const { printed } = await petstore("key find --json", { input: `${key}\n` });
    expect(JSON.parse(printed)).toMatchObject([{ id }]);
  });

  it("repeats no part of a text that it does not find", async () => {
    const { key } = await json("key issue shop");
    const other = key.replace(key.slice(10, 18), "AAAAAAAA");
    for (const [text, line] of [
      [other, "This store has no such key."],
      [key.slice(0, 17), "This is no API key"],
      [key.slice(10), "This is no API key"],
    ]) {
      const { exitCode, printed, complained } = await petstore(`key find ${text}`);
      expect(exitCode).toBe(1);
      expect(complained).toContain(line);
      expect(printed + complained).not.toContain(key.slice(18, 24));
    }
  });
});

describe("petstore account suspend and resume", () => {
  it("show since when an account is suspended, and keep the first time", async () => {
    const { suspendedAt } = await json("account suspend shop");
    expect(Date.parse(suspendedAt)).not.toBeNaN();
    expect(await json("account suspend shop")).toMatchObject({ suspendedAt });
    expect(await json("account list")).toMatchObject([{ name: "shop", suspendedAt }]);
    expect(await json("account resume shop")).not.toHaveProperty("suspendedAt");
  });
});

describe("petstore audit", () => {
  it("shows who changed what, the newest change first", async () => {
    const { id } = await json("key issue shop --name website --scope read");
    await petstore(`key revoke ${id}`, { PETSTORE_ACTOR: "Ada, ticket 7" });
    const entries = await json("audit");
    expect(entries).toMatchObject([
      { actor: "Ada, ticket 7", action: "key revoke", account: "shop", key: id, details: { name: "website" } },
      { actor: `${userInfo().username}@${hostname()}`, action: "key issue", details: { scope: "read" } },
      { action: "account create", account: "shop", details: { name: "shop", plan: "free" } },
    ]);
    expect(entries[2]).not.toHaveProperty("key");
    const { printed } = await petstore("audit --limit 1");
    expect(printed).toMatch(
      /^at +actor +action +account +key +details\n20\S+ +Ada, ticket 7 +key revoke +shop +1 +\S.*$/,
    );
    expect(printed).toContain(" name=website ");
  });

  it("shows the changes of one account only", async () => {
    await petstore("account create other");
    expect(await json("audit --account other")).toMatchObject([{ account: "other" }]);
    await petstore("account suspend other");
    expect(await json("audit --account other")).toHaveLength(2);
  });

  it("refuses an actor that would forge lines, before anything changes", async () => {
    const forged = { PETSTORE_ACTOR: "Ada\n2026" };
    expect(await petstore("account suspend shop", forged)).toMatchObject({
      exitCode: 1,
      complained: "PETSTORE_ACTOR has at most 255 characters, no control characters, and is no API key.",
    });
    expect(await json("account list")).not.toMatchObject([{ suspendedAt: expect.anything() }]);
  });
});

it.each([
  ["U+202E, which turns the text after it", "shop\u202Epohs"],
  ["U+2028, which ends a line", "shop\u20282026"],
  ["an API key", `pets_live_${"a".repeat(32)}_aaaaaa`],
])("refuses a name and an actor with %s", async (_what, text) => {
  const refused = { exitCode: 1, complained: expect.stringContaining("no control characters, and is no API key.") };
  expect(await petstore(`account create ${text}`)).toMatchObject(refused);
  expect(await petstore(`key issue shop --name ${text}`)).toMatchObject(refused);
  expect(await petstore("account suspend shop", { PETSTORE_ACTOR: text })).toMatchObject(refused);
});

it("petstore key list shows the day on which a running instance last used a key", async () => {
  await using instance = await openInstance({ DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.directUrl });
  const [used, unused] = [await json("key issue shop"), await json("key issue shop")];
  expect(await instance.request(used.key, 1)).toBe("admitted");
  const isDay = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
  await expect.poll(() => json("key list shop")).toMatchObject([{ id: used.id, lastUsedOn: isDay }, { id: unused.id }]);
  expect((await json("key list shop"))[1]).not.toHaveProperty("lastUsedOn");
});

it("petstore --version prints the version of the package", async () => {
  const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  expect(await petstore("--version")).toEqual({ exitCode: 0, printed: version, complained: "" });
});

it.each([
  ["key revoke", "Give the id of a key, or --all <account>."],
  ["key revoke 1 --all shop", "Give the id of a key, or --all <account>."],
  ["key revoke --all nobody", "There is no account of this name"],
  ["key change 1", "Give --name, --scope, or both."],
  ["key change 99 --scope read", "There is no key of this id"],
  ["account suspend nobody", "There is no account of this name"],
  ["account resume nobody", "There is no account of this name"],
  ["audit --account nobody", "There is no account of this name"],
])("%s is refused with exit code 1 and one line", async (commandLine, line) => {
  expect(await petstore(commandLine)).toEqual({ exitCode: 1, printed: "", complained: expect.stringContaining(line) });
});

it.each(["key issue shop --scope all", "key change", "audit --limit 0"])(
  "%s is not understood: exit code 2",
  async (line) => {
    expect(await petstore(line)).toMatchObject({ exitCode: 2, complained: expect.stringMatching(/help|Usage/) });
  },
);

async function petstore(
  commandLine: string,
  { input = "", ...environment }: { readonly input?: string; readonly PETSTORE_ACTOR?: string } = {},
) {
  return runCommand(commandLine, { DATABASE_URL: database.url, ...environment }, { input });
}

async function json(commandLine: string) {
  const { printed, complained } = await petstore(`${commandLine} --json`);
  if (printed === "") throw new Error(complained);
  return JSON.parse(printed);
}
