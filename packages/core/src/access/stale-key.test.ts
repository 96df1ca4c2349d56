import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { accepted, openAuthenticator as open, rejected, stale, unavailable } from "../../test/authenticator-fixture.js";
import { Problem } from "../problem.js";
import { mintApiKey } from "./api-key.js";
import { createAuthenticator } from "./authenticator.js";

describe("after a change, the authenticator", () => {
  it("reads the keys of that account again, and of no other", async () => {
    const { authenticator, authenticate, lookUps, known } = open();
    await authenticate(known);
    authenticator.invalidateAccount(4n);
    await authenticate(known);
    expect(lookUps).toHaveLength(1);
    authenticator.invalidateAccount(3n);
    await authenticate(known);
    expect(lookUps).toHaveLength(2);
    authenticator.invalidateAll();
    await authenticate(known);
    expect(lookUps).toHaveLength(3);
  });

  it("does not use a row that was read before the change", async () => {
    for (const ageMs of [0, 6_000]) {
      const { authenticator, authenticate, clock, known, row, database } = open();
      if (ageMs > 0) await authenticate(known);
      clock.nowMs += ageMs;
      const lookUp = database.hold();
      const waiting = authenticate(known);
      row.revokedAt = new Date(0);
      authenticator.invalidateAccount(3n);
      lookUp.release();
      expect(await waiting).toMatchObject(rejected("API_KEY_REVOKED"));
      expect(await authenticate(known)).toMatchObject(rejected("API_KEY_REVOKED"));
    }
  });

  it("remembers 10,000 changed accounts, and reads all keys again after more", async () => {
    const { authenticator, authenticate, lookUps, known } = open();
    await authenticate(known);
    for (let account = 100n; account < 10_100n; account++) authenticator.invalidateAccount(account);
    await authenticate(known);
    expect(lookUps).toHaveLength(1);
    authenticator.invalidateAccount(99n);
    await authenticate(known);
    expect(lookUps).toHaveLength(2);
  });

  it("does not use its old record while PostgreSQL is unreachable", async () => {
    const { authenticator, authenticate, known, database } = open();
    await authenticate(known);
    authenticator.invalidateAccount(3n);
    database.isUnreachable = true;
    await expect(authenticate(known)).rejects.toMatchObject(unavailable);
  });
});

describe("while PostgreSQL is unreachable, the authenticator", () => {
  it("uses the cached record and marks it as stale", async () => {
    const { authenticate, clock, known, database } = open();
    await authenticate(known);
    clock.nowMs += 600_000;
    database.isUnreachable = true;
    expect(await authenticate(known)).toMatchObject(stale);
    database.isUnreachable = false;
    clock.nowMs += 3_000;
    expect(await authenticate(known)).toMatchObject(accepted);
  });

  it("waits for no look-up within three seconds of a failed one, and still runs one", async () => {
    const { authenticate, clock, lookUps, known, database } = open();
    await authenticate(known);
    clock.nowMs += 6_000;
    database.isUnreachable = true;
    await authenticate(known);
    const lookUp = database.hold();
    clock.nowMs += 2_999;
    expect(await authenticate(known)).toMatchObject(stale);
    expect(await authenticate(known)).toMatchObject(stale);
    expect(lookUps).toHaveLength(3);
    database.isUnreachable = false;
    lookUp.release();
    await expect.poll(() => authenticate(known)).toMatchObject(accepted);
  });

  it("runs one look-up at a time for any number of keys", async () => {
    const { row, clock } = open();
    let lookUps = 0;
    let isUnreachable = false;
    const findByDigest = async () => {
      lookUps += 1;
      if (isUnreachable) throw new Problem("SERVICE_UNAVAILABLE");
      return row;
    };
    const { authenticate } = createAuthenticator({ keys: { findByDigest }, monotonicNow: () => clock.nowMs });
    const tokens = Array.from({ length: 20 }, () => mintApiKey("live", randomBytes));
    for (const token of tokens) await authenticate(token, token);
    isUnreachable = true;
    clock.nowMs += 6_000;
    await authenticate(tokens[0] ?? "", "");
    lookUps = 0;
    const answers = await Promise.all(tokens.map((token) => authenticate(token, token)));
    for (const answer of answers) expect(answer).toMatchObject(stale);
    expect(lookUps).toBe(1);
  });

  it("uses no record older than an hour", async () => {
    const { authenticate, clock, known, database } = open();
    await authenticate(known);
    database.isUnreachable = true;
    clock.nowMs += 3_600_000;
    expect(await authenticate(known)).toMatchObject(stale);
    clock.nowMs += 1;
    await expect(authenticate(known)).rejects.toMatchObject(unavailable);
  });

  it("still refuses an expired key", async () => {
    const { authenticate, clock, known, database } = open({ expiresInMs: 10_000 });
    await authenticate(known);
    database.isUnreachable = true;
    clock.nowMs += 9_999;
    expect(await authenticate(known)).toMatchObject(stale);
    clock.nowMs += 1;
    expect(await authenticate(known)).toMatchObject(rejected("API_KEY_EXPIRED"));
  });

  it("rejects every request with an unseen key, and remembers nothing about it", async () => {
    const { authenticate, known, database } = open();
    database.isUnreachable = true;
    const outcomes = await Promise.allSettled([authenticate(known), authenticate(known)]);
    expect(outcomes).toMatchObject([1, 2].map(() => ({ status: "rejected", reason: unavailable })));
    database.isUnreachable = false;
    expect(await authenticate(known)).toMatchObject(accepted);
  });

  it("passes on any other fault", async () => {
    const { authenticate, clock, known, database } = open();
    await authenticate(known);
    clock.nowMs += 5_001;
    database.fault = new TypeError("a fault of ours");
    await expect(authenticate(known)).rejects.toThrow("a fault of ours");
  });
});
