import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Problem } from "../problem.js";
import { digestApiKey, mintApiKey } from "./api-key.js";
import { createAuthenticator, type KeyWithLimits } from "./authenticator.js";

const accepted = { outcome: "accepted", key: { id: 7n }, staleCause: undefined };
const stale = { outcome: "accepted", key: { id: 7n }, staleCause: { code: "SERVICE_UNAVAILABLE" } };
const rejected = (code: string) => ({ outcome: "rejected", problem: { code } });
const unreachable = new Problem("SERVICE_UNAVAILABLE", undefined, { retryAfterSeconds: 1 });
const unavailable = { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 };
const announcedMs = 30 * 86_400_000;
const time = new Date("2027-01-31T12:00:00Z");

describe("the authenticator", () => {
  it.each([
    ["a malformed key", false, 0, "pets_live_secret"],
    ["an unknown live key", false, 1, mintApiKey("live", randomBytes)],
    ["an unknown test key", true, 1, mintApiKey("test", randomBytes)],
    ["any test key", false, 0, mintApiKey("test", randomBytes)],
  ])("refuses %s, in a test store: %s, after %i queries", async (_, isTestStore, count, token) => {
    const { authenticate, lookUps } = open({ isTestStore });
    expect(await authenticate(token)).toMatchObject(rejected("API_KEY_INVALID"));
    expect(lookUps).toHaveLength(count);
  });

  it("runs one query for 10,000 concurrent requests with one key", async () => {
    const { authenticator, authenticate, known } = open();
    await Promise.all(Array.from({ length: 10_000 }, () => authenticate(known)));
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

  it("waits for the look-up when the record is older than 5 seconds, and names the key that it rejects", async () => {
    const { authenticate, clock, known, row, database } = open();
    await authenticate(known);
    row.revokedAt = new Date(0);
    clock.nowMs += 5_001;
    const release = database.hold();
    const answer = authenticate(known);
    clock.nowMs += 1_100;
    release();
    expect(await answer).toMatchObject({ ...rejected("API_KEY_REVOKED"), key: { id: 7n, accountId: 3n } });
  });

  it("remembers for 5 seconds that the database does not have a key", async () => {
    const { authenticate, clock, lookUps, known, database } = open();
    await authenticate(known);
    database.rows.clear();
    clock.nowMs += 5_001;
    const answers = [await authenticate(known), await authenticate(known)];
    expect(answers).toMatchObject(Array(2).fill(rejected("API_KEY_INVALID")));
    expect(lookUps).toHaveLength(2);
    clock.nowMs += 5_001;
    await authenticate(known);
    expect(lookUps).toHaveLength(3);
  });

  it("keeps known keys in memory through a flood of unknown ones", async () => {
    const { authenticate, clock, database, lookUps, known } = open();
    await authenticate(known);
    for (let request = 0; request < 10_000; request++) {
      // As many look-ups as the limiter allows.
      clock.nowMs += 20;
      await authenticate(mintApiKey("live", randomBytes), `client ${request >> 3}`);
    }
    expect(lookUps).toHaveLength(10_001);
    database.fault = unreachable;
    expect(await authenticate(known)).toMatchObject(stale);
  });

  it("refuses an expired key from the millisecond of its expiry, also while PostgreSQL is unreachable", async () => {
    for (const fault of [undefined, unreachable]) {
      const { authenticate, clock, known, database } = open({ expiresInMs: 1_000 });
      await authenticate(known);
      database.fault = fault;
      clock.nowMs += 999;
      expect(await authenticate(known)).toMatchObject(accepted);
      clock.nowMs += 1;
      expect(await authenticate(known)).toMatchObject(rejected("API_KEY_EXPIRED"));
    }
  });

  it.each([
    ["no end", undefined, false],
    ["an end at the time `infinity`", Number.POSITIVE_INFINITY, false],
    ["30 days and a millisecond left", announcedMs + 1, false],
    ["30 days left", announcedMs, true],
    ["a millisecond left", 1, true],
  ])("announces the end of a key within 30 days, as an HTTP date: %s", async (_what, expiresInMs, isAnnounced) => {
    const expiresAt = new Date("2027-01-31T12:00:59.999Z");
    const { authenticate, known } = open(expiresInMs === undefined ? {} : { expiresAt, expiresInMs });
    const announcedExpiry = isAnnounced ? "Sun, 31 Jan 2027 12:00:59 GMT" : undefined;
    expect(await authenticate(known)).toMatchObject({ ...accepted, announcedExpiry });
  });

  it("announces the end of a cached key from the millisecond on when 30 days are left", async () => {
    const { authenticate, clock, known, lookUps } = open({ expiresAt: time, expiresInMs: announcedMs + 1_000 });
    expect(await authenticate(known)).toMatchObject({ ...accepted, announcedExpiry: undefined });
    clock.nowMs += 999;
    expect(await authenticate(known)).toMatchObject({ ...accepted, announcedExpiry: undefined });
    clock.nowMs += 1;
    expect(await authenticate(known)).toMatchObject({ ...accepted, announcedExpiry: time.toUTCString() });
    expect(lookUps).toHaveLength(1);
  });

  it.each<[ended: Partial<KeyWithLimits>, message: string]>([
    [{ revokedAt: time }, "The API key was revoked at 2027-01-31T12:00:00.000Z."],
    [{ expiresAt: time, expiresInMs: 0 }, "The API key expired at 2027-01-31T12:00:00.000Z."],
    [{ revokedAt: time, expiresAt: time, expiresInMs: 0 }, "The API key was revoked at 2027-01-31T12:00:00.000Z."],
    [{ expiresAt: new Date(-8.64e15), expiresInMs: Number.NEGATIVE_INFINITY }, "The API key is past its expiry."],
  ])("says since when it refuses a key, and announces no end of it: %j", async (ended, message) => {
    const { authenticate, known } = open(ended);
    const rejection = await authenticate(known);
    expect(rejection).toMatchObject({ outcome: "rejected", problem: { message } });
    expect(rejection).not.toHaveProperty("announcedExpiry");
  });

  it("refuses a client after 10 unknown keys, but not a key that was valid within the last hour", async () => {
    const { authenticator, authenticate, clock, lookUps, known } = open();
    await authenticate(known, "another client");
    clock.nowMs += 3_590_000;
    const guess = () => authenticate(mintApiKey("live", randomBytes));
    for (let count = 0; count < 10; count++) expect(await guess()).toMatchObject(rejected("API_KEY_INVALID"));
    await expect(guess()).rejects.toMatchObject(unavailable);
    expect(lookUps).toHaveLength(11);
    expect(authenticator.cache().refusals).toBe(1);
    authenticator.invalidateAll();
    expect(await authenticate(known)).toMatchObject(accepted);
  });

  it("answers 503 to keys that it has not seen, valid or not, after 200 unknown keys from many clients", async () => {
    const { authenticate, clock, lookUps, known } = open();
    await authenticate(known);
    clock.nowMs += 6_000;
    const guess = (client: number) => authenticate(mintApiKey("live", randomBytes), `client ${client}`);
    for (let client = 0; client < 200; client++) {
      expect(await guess(client)).toMatchObject(rejected("API_KEY_INVALID"));
    }
    await expect(guess(200)).rejects.toMatchObject(unavailable);
    expect(lookUps).toHaveLength(201);
    expect(await authenticate(known, "client 201")).toMatchObject(accepted);
  });
});

describe("after a change, the authenticator", () => {
  it("reads the keys of that account again, and of no other, and waits for PostgreSQL", async () => {
    const { authenticator, authenticate, lookUps, known, database } = open();
    const lookUpsAfter = async (change: () => void) => {
      change();
      await authenticate(known);
      return lookUps.length;
    };
    expect(await lookUpsAfter(() => {})).toBe(1);
    expect(await lookUpsAfter(() => authenticator.invalidateAccount(4n))).toBe(1);
    expect(await lookUpsAfter(() => authenticator.invalidateAccount(3n))).toBe(2);
    expect(await lookUpsAfter(() => authenticator.invalidateAll())).toBe(3);
    authenticator.invalidateAccount(3n);
    database.fault = unreachable;
    await expect(authenticate(known)).rejects.toMatchObject(unavailable);
  });

  it("does not use a row that was read before the change", async () => {
    for (const ageMs of [0, 6_000]) {
      const { authenticator, authenticate, clock, known, row, database } = open();
      if (ageMs > 0) await authenticate(known);
      clock.nowMs += ageMs;
      const release = database.hold();
      const waiting = authenticate(known);
      row.revokedAt = new Date(0);
      authenticator.invalidateAccount(3n);
      release();
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
});

describe("while PostgreSQL is unreachable, the authenticator", () => {
  it("uses a record for an hour, marks it as stale, and waits for one look-up in three seconds", async () => {
    const { authenticate, clock, lookUps, known, database } = open();
    await authenticate(known);
    database.fault = unreachable;
    clock.nowMs += 6_000;
    expect(await authenticate(known)).toMatchObject(stale);
    const release = database.hold();
    clock.nowMs += 2_999;
    for (let request = 0; request < 2; request++) expect(await authenticate(known)).toMatchObject(stale);
    expect(lookUps).toHaveLength(3);
    release();
    clock.nowMs += 3_600_000 - 8_999;
    expect(await authenticate(known)).toMatchObject(stale);
    clock.nowMs += 1;
    await expect(authenticate(known)).rejects.toMatchObject(unavailable);
    database.fault = undefined;
    clock.nowMs += 3_000;
    expect(await authenticate(known)).toMatchObject(accepted);
  });

  it("runs one look-up at a time for any number of keys", async () => {
    const { authenticate, clock, lookUps, database, row } = open();
    const tokens = Array.from({ length: 20 }, () => mintApiKey("live", randomBytes));
    for (const token of tokens) database.rows.set(digestApiKey(token), row);
    for (const token of tokens) await authenticate(token, token);
    database.fault = unreachable;
    clock.nowMs += 6_000;
    await authenticate(tokens[0] ?? "");
    lookUps.length = 0;
    const answers = await Promise.all(tokens.map((token) => authenticate(token, token)));
    expect([answers, lookUps]).toMatchObject([tokens.map(() => stale), [expect.any(String)]]);
  });

  it("rejects every request with an unseen key, and remembers nothing about it", async () => {
    const { authenticate, known, database } = open();
    database.fault = unreachable;
    for (let request = 0; request < 2; request++) {
      await expect(authenticate(known)).rejects.toMatchObject(unavailable);
    }
    database.fault = undefined;
    expect(await authenticate(known)).toMatchObject(accepted);
  });
});

it("passes on a fault that is no unavailability", async () => {
  const { authenticate, clock, known, database } = open();
  await authenticate(known);
  clock.nowMs += 5_001;
  database.fault = new TypeError("a fault of ours");
  await expect(authenticate(known)).rejects.toThrow("a fault of ours");
});

/** An authenticator on a clock that the test moves, and a database with one key, of account 3. */
function open({ isTestStore = false, ...given }: Partial<KeyWithLimits> & { readonly isTestStore?: boolean } = {}) {
  const row: { -readonly [Name in keyof KeyWithLimits]: KeyWithLimits[Name] } = {
    id: 7n,
    accountId: 3n,
    accountName: "shop",
    createdAt: new Date(0),
    plan: "free",
    limits: { perMinute: 60, perDay: 1_000 },
    lineage: 7n,
    scope: "both",
    isUsedToday: true,
    ...given,
  };
  const known = mintApiKey("live", randomBytes);
  const clock = { nowMs: 1_000_000 };
  const lookUps: string[] = [];
  let held: Promise<void> | undefined;
  const database = {
    rows: new Map([[digestApiKey(known), row]]),
    fault: undefined as Error | undefined,
    /** The next look-up reads the rows at once, and returns them when the test calls the function. */
    hold() {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
  };
  const findByDigest = async (digest: string) => {
    lookUps.push(digest);
    const found = database.rows.get(digest);
    const read = found && { ...found };
    const before = held;
    held = undefined;
    await before;
    if (database.fault !== undefined) throw database.fault;
    return read;
  };
  const authenticator = createAuthenticator({ keys: { findByDigest }, monotonicNow: () => clock.nowMs, isTestStore });
  const authenticate = async (token: string, client = "a client") => authenticator.authenticate(token, client);
  return { authenticator, authenticate, clock, known, lookUps, database, row };
}
