import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { accepted, openAuthenticator as open, rejected, unavailable } from "../../test/authenticator-fixture.js";
import { digestApiKey, mintApiKey } from "./api-key.js";

describe("the authenticator", () => {
  it("runs no query for a malformed key", async () => {
    const { authenticate, lookUps } = open();
    for (const token of ["", "secret", mintApiKey("live", randomBytes).slice(0, -1)]) {
      expect(await authenticate(token)).toMatchObject(rejected("API_KEY_INVALID"));
    }
    expect(lookUps).toEqual([]);
  });

  it("runs one query for 10,000 concurrent requests with one key", async () => {
    const { authenticator, authenticate, lookUps, known } = open();
    await Promise.all(Array.from({ length: 10_000 }, () => authenticate(known)));
    expect(lookUps).toHaveLength(1);
    expect(authenticator.cache()).toEqual({ hits: 9_999, misses: 1, refusals: 0, size: 1 });
  });

  it("uses a record for 4 seconds, and then reads it again while requests use it for one second more", async () => {
    const { authenticate, clock, lookUps, known } = open();
    await authenticate(known);
    clock.nowMs += 4_000;
    expect(await authenticate(known)).toMatchObject(accepted);
    expect(lookUps).toHaveLength(1);
    clock.nowMs += 1_000;
    expect(await authenticate(known)).toMatchObject(accepted);
    expect(lookUps).toHaveLength(2);
  });

  it("waits for the look-up when the record is older than 5 seconds, however long it takes", async () => {
    const { authenticate, clock, known, row, database } = open();
    await authenticate(known);
    row.revokedAt = new Date(0);
    clock.nowMs += 5_001;
    const lookUp = database.hold();
    const answer = authenticate(known);
    clock.nowMs += 1_100;
    lookUp.release();
    expect(await answer).toMatchObject(rejected("API_KEY_REVOKED"));
  });

  it("remembers an unknown key for 5 seconds", async () => {
    const { authenticate, clock, lookUps } = open();
    const unknown = mintApiKey("live", randomBytes);
    for (let round = 0; round < 3; round++) {
      expect(await authenticate(unknown)).toMatchObject(rejected("API_KEY_INVALID"));
    }
    expect(lookUps).toHaveLength(1);
    clock.nowMs += 5_001;
    await authenticate(unknown);
    expect(lookUps).toHaveLength(2);
  });

  it("forgets a known key that the database no longer has", async () => {
    const { authenticate, clock, known, database } = open();
    await authenticate(known);
    database.isEmpty = true;
    clock.nowMs += 5_001;
    for (let round = 0; round < 2; round++) {
      expect(await authenticate(known)).toMatchObject(rejected("API_KEY_INVALID"));
    }
  });

  it("keeps known keys in memory through a flood of unknown ones", async () => {
    const { authenticate, lookUps, known } = open();
    await authenticate(known);
    for (let request = 0; request < 20_000; request++) {
      await authenticate(mintApiKey("live", randomBytes), `client ${request >> 3}`);
    }
    await authenticate(known);
    expect(lookUps).toHaveLength(20_001);
    expect(lookUps.filter((digest) => digest === digestApiKey(known))).toHaveLength(1);
  });

  it("refuses an expired key from the millisecond of its expiry, by the remaining time that PostgreSQL reported", async () => {
    const { authenticate, clock, known } = open({ expiresInMs: 1_000 });
    await authenticate(known);
    clock.nowMs += 999;
    expect(await authenticate(known)).toMatchObject(accepted);
    clock.nowMs += 1;
    expect(await authenticate(known)).toMatchObject(rejected("API_KEY_EXPIRED"));
  });

  it("names the key that was revoked or has expired", async () => {
    for (const row of [{ revokedAt: new Date(0), expiresInMs: -1 }, { expiresInMs: 0 }]) {
      const { authenticate, known } = open(row);
      expect(await authenticate(known)).toMatchObject({
        ...rejected(row.revokedAt === undefined ? "API_KEY_EXPIRED" : "API_KEY_REVOKED"),
        key: { id: 7n, accountId: 3n },
      });
    }
  });
});

describe("a client that sends unknown keys", () => {
  it("is refused from the eleventh key on without a look-up, and has five more a second later", async () => {
    const { authenticator, authenticate, clock, lookUps } = open();
    const guess = () => authenticate(mintApiKey("live", randomBytes));
    for (let count = 0; count < 10; count++) expect(await guess()).toMatchObject(rejected("API_KEY_INVALID"));
    await expect(guess()).rejects.toMatchObject(unavailable);
    clock.nowMs += 1_000;
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, guess));
    expect(outcomes.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 5 }, () => "fulfilled"),
      ...Array.from({ length: 3 }, () => "rejected"),
    ]);
    expect(lookUps).toHaveLength(15);
    expect(authenticator.cache().refusals).toBe(4);
  });

  it("is still served with a key that was valid within the last hour, even if its record must be read again", async () => {
    const { authenticator, authenticate, clock, known } = open();
    await authenticate(known);
    clock.nowMs += 3_590_000;
    for (let count = 0; count < 11; count++) await authenticate(mintApiKey("live", randomBytes)).catch(() => {});
    expect(await authenticate(known)).toMatchObject(accepted);
    authenticator.invalidateAll();
    expect(await authenticate(known)).toMatchObject(accepted);
  });

  it("does not affect another client", async () => {
    const { authenticate, known } = open();
    for (let count = 0; count < 11; count++) await authenticate(mintApiKey("live", randomBytes)).catch(() => {});
    await expect(authenticate(known)).rejects.toMatchObject(unavailable);
    expect(await authenticate(known, "another client")).toMatchObject(accepted);
  });
});
