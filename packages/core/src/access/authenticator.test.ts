import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
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
    expect(authenticator.cache()).toEqual({ hits: 9_999, misses: 1, size: 1 });
  });

  it("remembers a known key for 4 seconds, and asks again then without anybody waiting", async () => {
    const { authenticator, clock, lookups, known } = open();
    await authenticator.authenticate(known);
    clock.nowMs += 4_000;
    expect(await authenticator.authenticate(known)).toMatchObject({ id: 7n });
    expect(lookups).toHaveLength(1);
    clock.nowMs += 1;
    expect(await authenticator.authenticate(known)).toMatchObject({ id: 7n });
    expect(lookups).toHaveLength(2);
  });

  it("has every answer from the last 5 seconds, as long as the database answers", async () => {
    const { authenticator, clock, known, details } = open();
    await authenticator.authenticate(known);
    details.revokedAt = new Date(0);
    clock.nowMs += 5_001;
    expect(await authenticator.authenticate(known)).toMatchObject({ code: "API_KEY_REVOKED" });
  });

  it("lets an older answer stand in at once where the database fails, or takes its time", async () => {
    const { authenticator, clock, known, asked } = open();
    await authenticator.authenticate(known);
    clock.nowMs += 600_000;
    asked.fails = true;
    expect(await authenticator.authenticate(known)).toMatchObject({ id: 7n });
    asked.fails = false;
    asked.takesMs = 1_000;
    for (let request = 0; request < 3; request++) {
      const startedAtMs = performance.now();
      expect(await authenticator.authenticate(known)).toMatchObject({ id: 7n });
      expect(performance.now() - startedAtMs).toBeLessThan(500);
    }
  });

  it("lets no answer stand in for longer than an hour", async () => {
    const { authenticator, clock, known, asked } = open();
    await authenticator.authenticate(known);
    clock.nowMs += 3_600_001;
    asked.fails = true;
    await expect(authenticator.authenticate(known)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });

  it("a clock that is set back does not keep an answer fresh", async () => {
    const { authenticator, clock, lookups, known } = open();
    await authenticator.authenticate(known);
    clock.nowMs -= 3_600_000;
    await authenticator.authenticate(known);
    expect(lookups).toHaveLength(2);
  });

  it("forgets the keys of an account that has changed, and of no other", async () => {
    const { authenticator, lookups, known } = open();
    await authenticator.authenticate(known);
    authenticator.forgetAccount(4n);
    await authenticator.authenticate(known);
    expect(lookups).toHaveLength(1);
    authenticator.forgetAccount(3n);
    await authenticator.authenticate(known);
    expect(lookups).toHaveLength(2);
    authenticator.forgetAll();
    await authenticator.authenticate(known);
    expect(lookups).toHaveLength(3);
  });

  it("remembers nothing that it asked for before it was told of a change", async () => {
    const { authenticator, known, details, asked } = open();
    asked.takesMs = 20;
    const before = authenticator.authenticate(known);
    details.revokedAt = new Date(0);
    authenticator.forgetAccount(3n);
    expect(await before).toMatchObject({ id: 7n });
    expect(await authenticator.authenticate(known)).toMatchObject({ code: "API_KEY_REVOKED" });
  });

  it("an old answer does not stand in for a key that was told to have changed meanwhile", async () => {
    const { authenticator, clock, known, details, asked } = open();
    await authenticator.authenticate(known);
    clock.nowMs += 6_000;
    asked.takesMs = 50;
    const waiting = authenticator.authenticate(known);
    details.revokedAt = new Date(0);
    authenticator.forgetAccount(3n);
    expect(await waiting).toMatchObject({ code: "API_KEY_REVOKED" });
  });

  it("remembers an unknown key as long", async () => {
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

  it("forgets a known key that the database no longer has", async () => {
    const { authenticator, clock, known, asked } = open();
    await authenticator.authenticate(known);
    asked.isEmpty = true;
    clock.nowMs += 5_001;
    for (let round = 0; round < 2; round++) {
      expect(await authenticator.authenticate(known)).toMatchObject({ code: "API_KEY_INVALID" });
    }
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

const record: KeyWithAccount = { id: 7n, accountId: 3n, createdAt: new Date(0), plan: "free", lineage: 7n };

/** An authenticator over one known key, what it asked, and what becomes of it. */
function open(given: Partial<KeyWithAccount> = {}) {
  const known = mintApiKey("live", randomBytes);
  const clock = { nowMs: 1 };
  const lookups: string[] = [];
  const asked = { fails: false, isEmpty: false, takesMs: 0 };
  const details: { expiresAt?: Date; revokedAt?: Date } = { ...given };
  const findByDigest = async (digest: string) => {
    lookups.push(digest);
    const found = digest === digestApiKey(known) && !asked.isEmpty ? { ...record, ...details } : undefined;
    if (asked.takesMs > 0) await sleep(asked.takesMs);
    if (asked.fails) throw new Problem("SERVICE_UNAVAILABLE");
    return found;
  };
  const authenticator = createAuthenticator({ keys: { findByDigest }, now: () => clock.nowMs });
  return { authenticator, clock, known, lookups, asked, details };
}
