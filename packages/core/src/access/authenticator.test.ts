import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Problem } from "../problem.js";
import { digestApiKey, mintApiKey } from "./api-key.js";
import { createAuthenticator } from "./authenticator.js";
import type { KeyWithAccount } from "./key-repository.js";

describe("the authenticator", () => {
  it("asks the database nothing for a malformed key", async () => {
    const { authenticator, lookups } = open();
    for (const token of ["", "secret", mintApiKey("live", randomBytes).slice(0, -1)]) {
      expect(await authenticator.authenticate(token)).toMatchObject({ code: "API_KEY_INVALID" });
    }
    expect(lookups).toEqual([]);
  });

  it("asks once for 10,000 concurrent requests with one key", async () => {
    const { authenticator, lookups, known } = open();
    await Promise.all(Array.from({ length: 10_000 }, () => authenticator.authenticate(known)));
    expect(lookups).toHaveLength(1);
  });

  it("remembers a known key for 5 seconds, and asks again then", async () => {
    const { authenticator, clock, lookups, known } = open();
    expect(await authenticator.authenticate(known)).toMatchObject({ id: 7n });
    clock.nowMs += 5_000;
    await authenticator.authenticate(known);
    expect(lookups).toHaveLength(1);
    clock.nowMs += 1;
    await authenticator.authenticate(known);
    expect(lookups).toHaveLength(2);
  });

  it("remembers an unknown key for 5 seconds too", async () => {
    const { authenticator, clock, lookups } = open();
    const unknown = mintApiKey("live", randomBytes);
    for (let round = 0; round < 3; round++) {
      expect(await authenticator.authenticate(unknown)).toMatchObject({ code: "API_KEY_INVALID" });
    }
    expect(lookups).toHaveLength(1);
    clock.nowMs += 5_001;
    await authenticator.authenticate(unknown);
    expect(lookups).toHaveLength(2);
  });

  it("keeps known keys in memory through a flood of invented ones", async () => {
    const { authenticator, lookups, known } = open();
    await authenticator.authenticate(known);
    for (let round = 0; round < 20_000; round++) await authenticator.authenticate(mintApiKey("live", randomBytes));
    await authenticator.authenticate(known);
    expect(lookups.filter((digest) => digest === digestApiKey(known))).toHaveLength(1);
  });

  it("refuses an expired key from the millisecond of its expiry, also while it is remembered", async () => {
    const { authenticator, clock, known } = open({ expiresAt: new Date(1_000) });
    clock.nowMs = 999;
    expect(await authenticator.authenticate(known)).toMatchObject({ id: 7n });
    clock.nowMs = 1_000;
    expect(await authenticator.authenticate(known)).toMatchObject({ code: "API_KEY_EXPIRED" });
  });

  it("refuses a revoked key as revoked, whatever its expiry", async () => {
    const { authenticator, known } = open({ revokedAt: new Date(0), expiresAt: new Date(0) });
    expect(await authenticator.authenticate(known)).toMatchObject({ code: "API_KEY_REVOKED" });
  });

  it("passes a failed lookup on to everyone who waits for it, and remembers nothing of it", async () => {
    const known = mintApiKey("live", randomBytes);
    let isAway = true;
    const findByDigest = async () => {
      if (isAway) throw new Problem("SERVICE_UNAVAILABLE");
      return record;
    };
    const authenticator = createAuthenticator({ keys: { findByDigest }, now: () => 0 });
    const outcomes = await Promise.allSettled([authenticator.authenticate(known), authenticator.authenticate(known)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isAway = false;
    expect(await authenticator.authenticate(known)).toMatchObject({ id: 7n });
  });
});

const record: KeyWithAccount = { id: 7n, accountId: 3n, createdAt: new Date(0), plan: "free" };

/** An authenticator over one known key, and what it asked. */
function open(details: Partial<KeyWithAccount> = {}) {
  const known = mintApiKey("live", randomBytes);
  const clock = { nowMs: 1 };
  const lookups: string[] = [];
  const findByDigest = async (digest: string) => {
    lookups.push(digest);
    return digest === digestApiKey(known) ? { ...record, ...details } : undefined;
  };
  const authenticator = createAuthenticator({ keys: { findByDigest }, now: () => clock.nowMs });
  return { authenticator, clock, known, lookups };
}
