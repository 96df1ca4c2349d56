import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestApiKey, isWellFormedApiKey, mintApiKey } from "./api-key.js";

describe("an API key", () => {
  it("is recognised: pets_, its mode, a secret of 32 base62 characters and a checksum of six", () => {
    expect(mintApiKey("live", randomBytes)).toMatch(/^pets_live_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(mintApiKey("test", randomBytes)).toMatch(/^pets_test_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    for (let round = 0; round < 100; round++) expect(isWellFormedApiKey(mintApiKey("live", randomBytes))).toBe(true);
  });

  it("is not recognised if one character is changed", () => {
    const key = mintApiKey("live", randomBytes);
    for (let index = 0; index < key.length; index++) {
      const other = key[index] === "x" ? "y" : "x";
      expect(isWellFormedApiKey(key.slice(0, index) + other + key.slice(index + 1))).toBe(false);
    }
  });

  // The contract table of tools/checks/conformance has the forms that clients confuse with a key.
  it("is not recognised in any other form", () => {
    const key = mintApiKey("live", randomBytes);
    const place = fc.nat({ max: key.length });
    const inserted = fc.string({ unit: fc.constantFrom(...key) });
    const promise = fc.property(place, inserted, place, (to, text, from) => {
      const changed = key.slice(0, to) + text + key.slice(from);
      return changed === key || !isWellFormedApiKey(changed);
    });
    fc.assert(promise);
    for (const text of ["", "pets_live__", ` ${key}`, `${key}0`]) expect(isWellFormedApiKey(text)).toBe(false);
  });

  it("draws every character equally often: it draws bytes from 248 on again", () => {
    const bytes = [...Array.from({ length: 16 }, () => 248), ...Array.from({ length: 16 }, () => 61)];
    expect(mintApiKey("live", () => Uint8Array.from(bytes))).toContain("z".repeat(32));
  });

  it("has a SHA-256 digest", () => {
    expect(digestApiKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
