// Tests the output of the key commands. packages/core tests their changes.
import { isWellFormedApiKey } from "@petstore/core";
import { describe, expect, it } from "vitest";
import { useDatabase } from "./run-command.js";

const { json, petstore } = await useDatabase("migrate", "account create shop");

const hoursUntil = (time: string) => (Date.parse(time) - Date.now()) / 3_600_000;

describe("petstore key", () => {
  it("shows a new key once: no other command prints it", async () => {
    const { key, ...record } = await json("key issue shop --name website --scope read");
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(record).toMatchObject({ name: "website", scope: "read", prefix: key.slice(0, 18) });
    expect(key).toMatch(/^pets_live_/);
    const listed = await petstore("key list shop --json");
    expect(JSON.parse(listed.printed)).toEqual([record]);
    expect(listed.printed).not.toContain(key.slice(10, 42));
  });

  it("issues a test key that ends at its expiry, with both scopes", async () => {
    expect(await json("key issue shop --test --expires 2100-01-31T00:00:00Z")).toMatchObject({
      key: expect.stringMatching(/^pets_test_/),
      scope: "both",
      expiresAt: "2100-01-31T00:00:00.000Z",
    });
  });

  it("changes the name of a key, its scope, or both", async () => {
    const { id } = await json("key issue shop --name website");
    expect(await json(`key change ${id} --scope write`)).toMatchObject({ id, name: "website", scope: "write" });
    expect(await json(`key change ${id} --name form --scope both`)).toMatchObject({ name: "form", scope: "both" });
  });

  it("rotates a key to one of the same mode, and shows when the old one ends", async () => {
    for (const [option, start] of [
      ["", "pets_live_"],
      ["--test", "pets_test_"],
    ]) {
      const { id } = await json(`key issue shop ${option}`);
      const rotated = await json(`key rotate ${id} --grace 24h --expires 2100-01-01`);
      const { key, expiresAt, replaced } = rotated;
      expect(isWellFormedApiKey(key)).toBe(true);
      expect(key).toContain(start);
      expect(expiresAt).toBe("2100-01-01T00:00:00.000Z");
      expect(rotated).toMatchObject({ rotatedFrom: id, replaced: { id } });
      expect(hoursUntil(replaced.endsAt)).toBeCloseTo(24, 1);
    }
  });

  it("expires a key at a time, after a duration, or now, and never one that was revoked", async () => {
    const { id } = await json("key issue shop");
    expect(await json(`key expire ${id} --at 2100-01-01`)).toMatchObject({ expiresAt: "2100-01-01T00:00:00.000Z" });
    expect(hoursUntil((await json(`key expire ${id} --in 90m`)).expiresAt)).toBeCloseTo(1.5, 1);
    expect(hoursUntil((await json(`key expire ${id}`)).expiresAt)).toBeLessThanOrEqual(0);
    expect(await json(`key revoke ${id}`)).toMatchObject({ id, revokedAt: expect.any(String) });
    expect(await petstore(`key expire ${id}`)).toMatchObject({
      exitCode: 1,
      complained: "This key was revoked, and cannot work again.",
    });
  });

  it("shows when ban lift lifted a ban", async () => {
    const { id } = await json("key issue shop");
    expect(await json(`ban lift ${id}`)).toMatchObject({ id, banLiftedAt: expect.any(String) });
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
