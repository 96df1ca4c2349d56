// Tests the output of the commands. packages/core tests their changes.
import { hostname, userInfo } from "node:os";
import { isWellFormedApiKey } from "@petstore/core";
import { describe, expect, it } from "vitest";
import { useDatabase } from "./run-command.js";

const { json, petstore } = await useDatabase("migrate", "account create shop");

const hoursUntil = (time: string) => (Date.parse(time) - Date.now()) / 3_600_000;

describe("petstore account", () => {
  it("creates an account on the Free plan unless another is named, and lists both", async () => {
    const clinic = await json("account create clinic --plan business");
    expect(clinic).toMatchObject({ id: "2", name: "clinic", plan: "business", perMinute: 1_000, perDay: 100_000 });
    const shop = expect.objectContaining({ id: "1", name: "shop", plan: "free", perMinute: 60, perDay: 1_000 });
    expect(await json("account list")).toEqual([shop, clinic]);
  });

  it("set-plan changes the plan and the agreed limits", async () => {
    expect(await json("account set-plan clinic pro")).toMatchObject({ name: "clinic", plan: "pro", perMinute: 300 });
    await petstore("account set-plan clinic enterprise --per-minute 2000 --per-day 300000");
    const enterprise = { plan: "enterprise", perMinute: 2_000, perDay: 300_000 };
    expect(await json("account show clinic")).toMatchObject({ ...enterprise, keys: [] });
  });

  it("show prints the account and its keys for people", async () => {
    const { id } = await json("key issue shop");
    const { printed } = await petstore("account show shop");
    expect(printed).toMatch(new RegExp(`^id +1\nname +shop\nplan +free[^]*\n\nkeys\nid  name  prefix .*\n${id} .*$`));
  });

  it("rename shows the account with its new name, even if it has this name already", async () => {
    const { id } = await json("account create kenel");
    expect(await json("account rename kenel stable")).toMatchObject({ id, name: "stable" });
    expect(await json("account rename stable stable")).toMatchObject({ id, name: "stable" });
  });

  it("delete refuses while a key works, unless it may revoke the key", async () => {
    const { id } = await json("account create farm");
    await json("key issue farm");
    const complained = expect.stringContaining("Keys of this account still work");
    expect(await petstore("account delete farm")).toMatchObject({ exitCode: 1, printed: "", complained });
    expect(await json("account delete farm --force")).toMatchObject({ id, name: "farm", deletedKeys: 1 });
    const [first, second, third] = await json("audit --limit 3");
    const account = `(deleted, id ${id})`;
    expect(first).toMatchObject({ action: "account delete", account, details: { name: "farm" } });
    expect(second).toMatchObject({ action: "key revoke-all", account, details: { revokedAt: expect.any(String) } });
    expect(third).toMatchObject({ action: "key issue", account });
  });

  it("suspend and resume show since when an account is suspended, and keep the first time", async () => {
    const { suspendedAt } = await json("account suspend clinic");
    expect(Date.parse(suspendedAt)).not.toBeNaN();
    expect(await json("account suspend clinic")).toMatchObject({ suspendedAt });
    expect(await json("account show clinic")).toMatchObject({ name: "clinic", suspendedAt });
    expect(await json("account resume clinic")).not.toHaveProperty("suspendedAt");
  });
});

it("petstore audit shows who changed what, the newest change first, of all accounts or of one", async () => {
  await petstore("account create museum");
  const { id } = await json("key issue museum --name website --scope read");
  await petstore(`key revoke ${id}`, { PETSTORE_ACTOR: "Ada, ticket 7" });
  const entries = await json("audit --limit 3");
  expect(entries).toMatchObject([
    { actor: "Ada, ticket 7", action: "key revoke", account: "museum", key: id, details: { name: "website" } },
    { actor: `${userInfo().username}@${hostname()}`, action: "key issue", details: { scope: "read" } },
    { action: "account create", account: "museum", details: { name: "museum", plan: "free" } },
  ]);
  expect(entries[2]).not.toHaveProperty("key");
  await petstore("account create other");
  expect(await json("audit --account museum")).toEqual(entries);
  const { printed } = await petstore("audit --account museum --limit 1");
  expect(printed).toMatch(
    /^at +actor +action +account +key +details\n20\S+ +Ada, ticket 7 +key revoke +museum +\d+ +name=website .*$/,
  );
});

describe("petstore key", () => {
  it("shows a new key once: no other command prints it", async () => {
    const { key, ...record } = await json("key issue shop --name website --scope read --expires 2100-01-31");
    expect(isWellFormedApiKey(key)).toBe(true);
    const expiresAt = "2100-01-31T00:00:00.000Z";
    expect(record).toMatchObject({ name: "website", scope: "read", prefix: key.slice(0, 18), expiresAt });
    expect(key).toMatch(/^pets_live_/);
    const listed = await petstore("key list shop --json");
    expect(JSON.parse(listed.printed)).toContainEqual(record);
    expect(listed.printed).not.toContain(key.slice(10, 42));
  });

  it.each([
    ["key change ID --scope write", { name: "website", scope: "write" }],
    ["key change ID --name form --scope read", { name: "form", scope: "read" }],
    ["key expire ID --at 2100-01-01", { expiresAt: "2100-01-01T00:00:00.000Z" }],
    ["key revoke ID", { revokedAt: expect.any(String) }],
    ["ban lift ID", { banLiftedAt: expect.any(String) }],
  ])("%s shows the key after the change", async (commandLine, changed) => {
    const { id } = await json("key issue shop --name website");
    expect(await json(commandLine.replace("ID", id))).toMatchObject({ id, ...changed });
  });

  it.each([
    ["pets_live_", ""],
    ["pets_test_", " --test"],
  ])("rotates a key to one with the same start, %s, and shows when the old one ends", async (start, option) => {
    const { id } = await json(`key issue shop${option}`);
    const rotated = await json(`key rotate ${id} --grace 24h --expires 2100-01-01`);
    const { key, expiresAt, replaced } = rotated;
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(key).toContain(start);
    expect(expiresAt).toBe("2100-01-01T00:00:00.000Z");
    expect(rotated).toMatchObject({ rotatedFrom: id, replaced: { id }, scope: "both" });
    expect(hoursUntil(replaced.endsAt)).toBeCloseTo(24, 1);
  });

  it("rotates no key that a working key has already replaced", async () => {
    const { id } = await json("key issue shop");
    const { id: second } = await json(`key rotate ${id} --grace 24h`);
    const complained = `Key ${second} comes from a later rotation of this key. Rotate that one, or revoke it first.`;
    expect(await petstore(`key rotate ${id} --grace 24h`)).toMatchObject({ exitCode: 1, complained });
    expect(await json(`key rotate ${second} --grace 24h`)).toMatchObject({ rotatedFrom: id, replaced: { id: second } });
    await json("key revoke --all shop");
    const { id: other } = await json("key issue shop");
    await json(`key revoke ${(await json(`key rotate ${other} --grace 24h`)).id}`);
    expect(await json(`key rotate ${other} --grace 24h`)).toMatchObject({ replaced: { id: other } });
  });

  it("expires a key after a duration, or now, and never one that was revoked", async () => {
    const { id } = await json("key issue shop");
    expect(hoursUntil((await json(`key expire ${id} --in 90m`)).expiresAt)).toBeCloseTo(1.5, 1);
    expect(hoursUntil((await json(`key expire ${id}`)).expiresAt)).toBeLessThanOrEqual(0);
    await petstore(`key revoke ${id}`);
    const complained = "This key was revoked, and cannot work again.";
    expect(await petstore(`key expire ${id}`)).toMatchObject({ exitCode: 1, complained });
  });

  it("revokes all keys of an account, and shows which", async () => {
    await petstore("account create kennel");
    const issued = [await json("key issue kennel"), await json("key issue kennel")];
    const revoked = await json("key revoke --all kennel");
    expect(new Set(revoked.map(({ id }: { id: string }) => id))).toEqual(new Set(issued.map(({ id }) => id)));
    expect(await json("key revoke --all kennel"), "again").toEqual([]);
  });
});

describe("petstore key find", () => {
  it("shows which key a text is, and never the key", async () => {
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
    const { printed } = await petstore("key find --json", {}, `${key}\n`);
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
