// What the clients of both APIs are promised about keys and units, without HTTP.
import { beforeEach, describe, expect, it } from "vitest";
import { mintApiKey } from "../access/api-key.js";
import { createAuthenticator, type KeyWithLimits } from "../access/authenticator.js";
import { Problem } from "../problem.js";
import { remaining } from "../quota/decision.js";
import { createLocalQuota } from "../quota/engines/local-quota.js";
import type { Quota } from "../quota/quota.js";
import { dayMs } from "../quota/window.js";
import type { CountedAs, UsagePlace } from "../usage/usage-counters.js";
import { type Admission, type Charge, createAdmission, type Refusal } from "./admission.js";
import type { QuotaReport } from "./bucket.js";
import type { Ticket } from "./ticket.js";

const token = mintApiKey("live", (size) => new Uint8Array(size));
const address = "address:192.0.2.7";
const rest: CountedAs = { api: "rest" };
const graphql: CountedAs = { api: "graphql" };
const record: KeyWithLimits = {
  id: 7n,
  accountId: 3n,
  accountName: "shop",
  lineage: 5n,
  createdAt: new Date(0),
  scope: "both",
  plan: "free",
  isUsedToday: true,
  limits: { perMinute: 10, perDay: 100 },
};

let nowMs: number;
let stored: KeyWithLimits | undefined;
let isDatabaseReachable: boolean;
let overload: { reason: string | undefined };
let counted: string[];
/** The units and refusals of the usage history, by key, hour and operation. */
let usage: Record<string, { admitted: number; refused: number }>;
let isUsageFull: boolean;
let accountQuota: Quota;
let admission: Admission;

beforeEach(() => {
  nowMs = Date.UTC(2027, 0, 1, 12);
  stored = record;
  isDatabaseReachable = true;
  overload = { reason: undefined };
  counted = [];
  usage = {};
  isUsageFull = false;
  open(createLocalQuota({ now: () => nowMs }));
});

function open(quota: Quota): void {
  accountQuota = quota;
  const monotonicNow = () => nowMs;
  const findByDigest = async () => {
    if (!isDatabaseReachable) throw new Problem("SERVICE_UNAVAILABLE");
    return stored;
  };
  admission = createAdmission({
    authenticator: createAuthenticator({ keys: { findByDigest }, monotonicNow, isTestStore: false }),
    accountQuota,
    addressQuota: createLocalQuota({ now: () => nowMs }),
    anonymousLimits: { perMinute: 2, perDay: 100 },
    usageCounters: {
      addAdmitted(place, units) {
        if (!isUsageFull) usageAt(place).admitted += units;
        return !isUsageFull;
      },
      addRefused(place) {
        usageAt(place).refused += 1;
      },
    },
    overload,
    metrics: {
      decided: (bucket, _mode, outcome) => counted.push(`${bucket} ${outcome}`),
      shed: (reason) => counted.push(`shed ${reason}`),
    },
    monotonicNow,
  });
}

function usageAt({ keyId, atMs, countedAs: { api, operation } }: UsagePlace) {
  const hour = new Date(atMs).toISOString().slice(0, 13);
  const place = [keyId, hour, api, operation].join(" ").trim();
  const found = usage[place] ?? { admitted: 0, refused: 0 };
  usage[place] = found;
  return found;
}

async function admitted(charge: Charge = rest): Promise<Ticket> {
  const outcome = await admission.admit({ token, address }, charge);
  if (outcome.outcome === "refused") throw outcome.problem;
  return outcome;
}

async function refused(sent: string | Problem = token, charge: Charge = rest): Promise<Refusal> {
  const outcome = await admission.admit({ token: sent, address }, charge);
  if (outcome.outcome === "admitted") throw new Error("the request was admitted");
  return outcome;
}

/** A key with 30 days left. */
const ending: KeyWithLimits = {
  ...record,
  expiresAt: new Date("2027-01-31T12:00:00Z"),
  expiresInMs: 30 * 86_400_000,
};
const leftOf = ({ quota }: { readonly quota: QuotaReport }) => remaining(quota.minute);
const codeOf = ({ problem }: Refusal) => problem.code;
/** A change of the key that the instance has been told, or has read after 5 s. */
const change = (changed: Partial<KeyWithLimits> | undefined) => {
  stored = changed && { ...record, ...changed };
  nowMs += 5_001;
};
const unitsLeft = async () => remaining((await accountQuota.usage({ ...who, limits: record.limits })).minute);
const who = { account: "3", key: "5" };

describe("a request with a valid key", () => {
  it("gets a ticket with its caller, its key and the windows of its account, and costs one unit", async () => {
    const ticket = await admitted();
    expect(ticket).toMatchObject({ caller: { accountId: 3n, scope: "both", staleCause: undefined }, key: { id: 7n } });
    expect([leftOf(ticket), await unitsLeft()]).toEqual([9, 9]);
    expect(counted).toEqual(["account admitted"]);
  });

  it("is refused with 429 when the units of its account are used up", async () => {
    for (let count = 0; count < 10; count += 1) await admitted();
    const refusal = await refused();
    expect(refusal).toMatchObject({ problem: { code: "RATE_LIMIT_EXCEEDED", status: 429 }, key: { id: 7n } });
    expect(refusal.problem.retryAfterSeconds).toBeGreaterThan(0);
    expect(leftOf(refusal)).toBe(0);
  });

  it("costs nothing if its route is free, and its quota is read once a second", async () => {
    expect(leftOf(await admitted("free"))).toBe(10);
    await admitted();
    expect(leftOf(await admitted("free"))).toBe(10);
    nowMs += 1_001;
    expect(leftOf(await admitted("free"))).toBe(9);
    await expect((await admitted("free")).extend(2)).rejects.toThrow("holds no unit");
  });

  it("is refused with 403 while its account is suspended, and costs a unit unless its route is free", async () => {
    stored = { ...record, accountSuspendedAt: new Date(0) };
    expect([codeOf(await refused()), codeOf(await refused(token, "free"))]).toEqual([
      "ACCOUNT_SUSPENDED",
      "ACCOUNT_SUSPENDED",
    ]);
    expect(await unitsLeft()).toBe(9);
  });

  it("is told when its key ends within 30 days, also when it is refused", async () => {
    const announcedExpiry = "Sun, 31 Jan 2027 12:00:00 GMT";
    stored = ending;
    expect(await admitted("free")).toMatchObject({ announcedExpiry });
    for (let count = 0; count < 10; count += 1) expect(await admitted()).toMatchObject({ announcedExpiry });
    expect(await refused()).toMatchObject({ problem: { code: "RATE_LIMIT_EXCEEDED" }, announcedExpiry });
    change({ ...ending, accountSuspendedAt: new Date(0) });
    nowMs += 60_000;
    expect(await refused()).toMatchObject({ problem: { code: "ACCOUNT_SUSPENDED" }, announcedExpiry });
    expect(await refused(token, "free")).toMatchObject({ problem: { code: "ACCOUNT_SUSPENDED" }, announcedExpiry });
  });

  it("has a stale caller while its key cannot be checked again", async () => {
    await admitted();
    isDatabaseReachable = false;
    nowMs += 5_001;
    expect((await admitted()).caller.staleCause).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
});

describe("a request without a valid key", () => {
  it.each([
    ["no key", new Problem("API_KEY_MISSING"), "API_KEY_MISSING"],
    ["a malformed key", "pets_live_0", "API_KEY_INVALID"],
  ])("with %s gets 401 and is counted by its address, and then 429", async (_what, sent, code) => {
    expect([await refused(sent), await refused(sent, "free"), await refused(sent)].map(codeOf)).toEqual([
      code,
      code,
      "RATE_LIMIT_EXCEEDED",
    ]);
    expect(leftOf({ quota: await admission.addressUsage(address) })).toBe(0);
    expect(counted).toEqual(["address admitted", "address admitted", "address refused"]);
    // A valid key from the same address is served.
    expect(leftOf(await admitted())).toBe(9);
  });

  it("names the record of a revoked key, for the log, and announces no end of it", async () => {
    stored = { ...ending, revokedAt: new Date(0) };
    expect(await refused()).toMatchObject({
      problem: { code: "API_KEY_REVOKED" },
      key: { id: 7n, accountId: 3n },
      announcedExpiry: undefined,
    });
  });

  it("is counted by its address if it is not valid HTTP", async () => {
    const problem = new Problem("MALFORMED_REQUEST");
    const outcomes = [1, 2, 3].map(() => admission.refuseMalformed(address, problem));
    expect((await Promise.all(outcomes)).map(codeOf)).toEqual([problem.code, problem.code, "RATE_LIMIT_EXCEEDED"]);
  });
});

describe("nothing is counted", () => {
  it("if the key cannot be checked: the request gets 503, and shows the requests left to its address", async () => {
    isDatabaseReachable = false;
    const refusal = await refused();
    expect([codeOf(refusal), leftOf(refusal)]).toEqual(["SERVICE_UNAVAILABLE", 2]);
    expect([await unitsLeft(), counted]).toEqual([10, []]);
  });

  it("while the process is overloaded: the request gets 503 before its key is checked", async () => {
    isDatabaseReachable = false;
    overload.reason = "database";
    const refusal = await refused();
    expect(refusal.problem).toMatchObject({ code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 });
    expect(refusal.problem.message).toContain("more requests than can be answered");
    expect([leftOf(refusal), await unitsLeft(), counted]).toEqual([2, 10, ["shed database"]]);
  });

  it("if the quota cannot decide: the request gets 503, and shows the last known counts", async () => {
    const deny = async () => Promise.reject(new Problem("SERVICE_UNAVAILABLE"));
    open({ ...createLocalQuota({ now: () => nowMs }), reserve: deny });
    expect(await refused()).toMatchObject({ problem: { code: "SERVICE_UNAVAILABLE" }, key: { id: 7n } });
    expect(counted).toEqual(["account undecided"]);
  });
});

describe("a ticket", () => {
  it("can be extended to the cost of its operation, and gives all its units back once", async () => {
    await admitted();
    const ticket = await admitted();
    await ticket.extend(4);
    expect([leftOf(ticket), await unitsLeft()]).toEqual([5, 5]);
    await ticket.refund();
    await ticket.refund();
    expect([leftOf(ticket), await unitsLeft()]).toEqual([9, 9]);
  });

  it.each([
    [11, "OPERATION_TOO_LARGE"],
    [10, "RATE_LIMIT_EXCEEDED"],
  ])("keeps its one unit if %i units are refused", async (cost, code) => {
    await admitted();
    const ticket = await admitted();
    await expect(ticket.extend(cost)).rejects.toMatchObject({ code });
    expect([leftOf(ticket), await unitsLeft()]).toEqual([8, 8]);
  });

  it.each<[what: string, changed: Partial<KeyWithLimits> | undefined, code: string]>([
    ["is revoked", { revokedAt: new Date(0) }, "API_KEY_REVOKED"],
    ["belongs to a suspended account", { accountSuspendedAt: new Date(0) }, "ACCOUNT_SUSPENDED"],
    ["is unknown", undefined, "API_KEY_INVALID"],
  ])("is not confirmed after its key %s", async (_what, changed, code) => {
    const ticket = await admitted();
    change(changed);
    await expect(ticket.confirm()).rejects.toMatchObject({ code });
  });

  it("is confirmed with the scope that its key has now", async () => {
    const ticket = await admitted();
    change({ scope: "read" });
    expect((await ticket.confirm()).scope).toBe("read");
    expect(ticket.caller.scope).toBe("read");
    isDatabaseReachable = false;
    nowMs += 5_001;
    expect(await ticket.confirm()).toMatchObject({ scope: "read", staleCause: { code: "SERVICE_UNAVAILABLE" } });
  });

  it("announces the end that its key has now, and none after the key was revoked", async () => {
    const ticket = await admitted();
    expect(ticket.announcedExpiry).toBeUndefined();
    change(ending);
    await ticket.confirm();
    expect(ticket.announcedExpiry).toBe("Sun, 31 Jan 2027 12:00:00 GMT");
    change({ ...ending, revokedAt: new Date(0) });
    await expect(ticket.confirm()).rejects.toMatchObject({ code: "API_KEY_REVOKED" });
    expect(ticket.announcedExpiry).toBeUndefined();
  });
});

describe("the usage history counts", () => {
  const noon = "7 2027-01-01T12";
  const oneShortOfMidnight = Date.UTC(2027, 0, 2) - 1;

  it("each admitted request of either API, and deprecated operations apart", async () => {
    await admitted();
    await admitted();
    await admitted(graphql);
    await admitted({ ...rest, operation: "getPet" });
    await admitted("free");
    expect(usage).toEqual({
      [`${noon} rest`]: { admitted: 2, refused: 0 },
      [`${noon} graphql`]: { admitted: 1, refused: 0 },
      [`${noon} rest getPet`]: { admitted: 1, refused: 0 },
    });
  });

  it("the units of an extension and a refund, so that the sum is what the account has used", async () => {
    const ticket = await admitted(graphql);
    await ticket.extend(4);
    const failed = await admitted(graphql);
    await failed.extend(3);
    await failed.refund();
    await failed.refund();
    expect(usage).toEqual({ [`${noon} graphql`]: { admitted: 4, refused: 0 } });
    expect(await unitsLeft()).toBe(6);
  });

  it("one refused request for each 429, in either API and whatever its cost", async () => {
    const ticket = await admitted(graphql);
    for (let count = 0; count < 8; count += 1) await admitted();
    await expect(ticket.extend(5)).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
    await admitted();
    await refused();
    await refused(token, graphql);
    expect(usage).toEqual({
      [`${noon} rest`]: { admitted: 9, refused: 1 },
      [`${noon} graphql`]: { admitted: 1, refused: 2 },
    });
  });

  it("no refusal that is neither of a limit nor of a ban, and the unit of a suspended account", async () => {
    const ticket = await admitted(graphql);
    await expect(ticket.extend(11)).rejects.toMatchObject({ code: "OPERATION_TOO_LARGE" });
    change({ accountSuspendedAt: new Date(0) });
    await refused(token, graphql);
    await refused("pets_live_0");
    expect(usage).toEqual({ [`${noon} graphql`]: { admitted: 2, refused: 0 } });
  });

  it("all units of a request in the hour of its admission", async () => {
    nowMs = Date.UTC(2027, 0, 1, 13) - 1;
    const ticket = await admitted(graphql);
    nowMs += 1;
    await ticket.extend(3);
    expect(usage).toEqual({ [`${noon} graphql`]: { admitted: 3, refused: 0 } });
    await admitted(graphql);
    await ticket.refund();
    expect(usage).toEqual({
      [`${noon} graphql`]: { admitted: 0, refused: 0 },
      "7 2027-01-01T13 graphql": { admitted: 1, refused: 0 },
    });
  });

  it("the units of an extension in the new day that they are charged to", async () => {
    nowMs = oneShortOfMidnight;
    const ticket = await admitted(graphql);
    nowMs += 1;
    await ticket.extend(3);
    expect(usage).toEqual({
      "7 2027-01-01T23 graphql": { admitted: 1, refused: 0 },
      "7 2027-01-02T00 graphql": { admitted: 3, refused: 0 },
    });
    expect((await accountQuota.usage({ ...who, limits: record.limits })).day).toMatchObject({
      used: 3,
      resetAtMs: Date.UTC(2027, 0, 2) + dayMs,
    });
  });

  it("gives back no units that it could not count", async () => {
    isUsageFull = true;
    const ticket = await admitted(graphql);
    isUsageFull = false;
    await ticket.extend(3);
    await ticket.refund();
    expect(usage).toEqual({ [`${noon} graphql`]: { admitted: 0, refused: 0 } });
  });
});
