import { describe, expect, it } from "vitest";
import { type BanPolicy, defaultBanPolicy } from "../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../src/quota/decision.js";
import type { Reservation } from "../../src/quota/quota.js";
import { createSharedClock } from "../../src/quota/shared-clock.js";
import { createStandby, type Standby } from "../../src/quota/standby.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";

const midnight = Date.UTC(2031, 4, 14);
const noon = midnight + dayMs / 2;
const hourMs = 3_600_000;
const limits = { perMinute: 60, perDay: 1_000 };
const shop: Reservation = { account: "shop", key: "1", limits, cost: 1 };

interface Scene {
  readonly standby: Standby;
  readonly clock: { nowMs: number };
  readonly outages: { count: number };
}

function openScene({ instances = 2, banPolicy = defaultBanPolicy, capacity = 100 } = {}): Scene {
  const clock = { nowMs: noon };
  const outages = { count: 0 };
  const options = { clock: createSharedClock(() => clock.nowMs), banPolicy, instances, capacity };
  return { standby: createStandby({ ...options, outages: () => outages.count }), clock, outages };
}

/** What the shared quota answers at noon. */
function admitted(minuteUsed: number, dayUsed = minuteUsed): Admitted {
  return {
    outcome: "admitted",
    nowMs: noon,
    minute: { limit: 60, used: minuteUsed, resetAtMs: noon + minuteMs },
    day: { limit: 1_000, used: dayUsed, resetAtMs: midnight + dayMs },
  };
}

async function outcomes(standby: Standby, requests: number, reservation = shop): Promise<Decision["outcome"][]> {
  const given: Decision["outcome"][] = [];
  for (let request = 0; request < requests; request += 1) {
    given.push((await standby.reserve(reservation, false)).outcome);
  }
  return given;
}

async function grants(standby: Standby, reservation = shop): Promise<number> {
  const given = await outcomes(standby, 100, { ...reservation, key: `${Math.random()}` });
  return given.filter((outcome) => outcome === "admitted").length;
}

describe("the stand-in while Redis is away", () => {
  it.each([
    [1, 20],
    [2, 10],
    [3, 6],
    [40, 0],
  ])("an account last seen at 40 of 60 gets its share of the rest: with %i instances, %i", async (instances, granted) => {
    const { standby, outages } = openScene({ instances });
    standby.observe(shop, admitted(40));
    outages.count = 1;
    expect(await grants(standby)).toBe(granted);
  });

  it("an account never seen gets the share of the limit, and so does a minute that begins in the outage", async () => {
    const { standby, clock, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    expect(await grants(standby, { ...shop, account: "stranger" })).toBe(30);
    expect(await grants(standby)).toBe(10);
    clock.nowMs = noon + minuteMs;
    expect(await grants(standby)).toBe(30);
    expect(await grants(standby, { ...shop, account: "stranger" })).toBe(30);
  });

  it("the day's rest is shared like the minute's", async () => {
    const { standby, clock, outages } = openScene();
    standby.observe(shop, admitted(0, 990));
    outages.count = 1;
    expect(await grants(standby)).toBe(5);
    clock.nowMs = noon + minuteMs;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "refused", by: "day" });
    clock.nowMs = midnight + dayMs;
    expect(await grants(standby)).toBe(30);
  });

  it("a limit smaller than the number of instances still lets one request through", async () => {
    const { standby, outages } = openScene({ instances: 5 });
    outages.count = 1;
    expect(await grants(standby, { ...shop, limits: { perMinute: 2, perDay: 100 } })).toBe(1);
  });

  it("reports the account's own limits, and as remaining what is still granted here", async () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    expect(await standby.usage(shop)).toMatchObject({ minute: { limit: 60, used: 50 }, day: { limit: 1_000, used: 520 } });
    expect(await standby.reserve(shop, false)).toMatchObject({ minute: { limit: 60, used: 51 }, day: { used: 521 } });
    await grants(standby);
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "refused", minute: { limit: 60, used: 60 } });
  });

  it("a cost above the share but within the limit is refused, above the limit impossible", async () => {
    const { standby, outages } = openScene();
    outages.count = 1;
    const refused = { outcome: "refused", by: "minute", retryAtMs: noon + minuteMs, minute: { limit: 60, used: 30 } };
    expect(await standby.reserve({ ...shop, cost: 31 }, false)).toMatchObject(refused);
    expect(await standby.reserve({ ...shop, cost: 60 }, false)).toMatchObject(refused);
    expect(await standby.reserve({ ...shop, cost: 61 }, false)).toMatchObject({ outcome: "impossible" });
    expect(await standby.reserve({ ...shop, cost: 30 }, false)).toMatchObject({ outcome: "admitted" });
  });

  it("a ban seen before the outage holds to its end, for its key alone", async () => {
    const { standby, clock, outages } = openScene();
    const bannedUntilMs = noon + 90_000;
    standby.observe(shop, { ...admitted(60), outcome: "banned", bannedUntilMs, retryAtMs: bannedUntilMs });
    outages.count = 1;
    clock.nowMs = bannedUntilMs - 1;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "banned", bannedUntilMs });
    expect(await standby.reserve({ ...shop, key: "2" }, false)).toMatchObject({ outcome: "admitted" });
    clock.nowMs = bannedUntilMs;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "admitted" });
  });

  it("a ban that was lifted does not return with the next outage", async () => {
    const { standby, outages } = openScene();
    const banned: Decision = { ...admitted(1), outcome: "banned", bannedUntilMs: noon + hourMs, retryAtMs: noon + hourMs };
    standby.observe(shop, banned);
    outages.count = 1;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "banned" });
    standby.observe(shop, admitted(2));
    outages.count = 2;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "admitted" });
    standby.observe(shop, banned);
    await standby.liftBan({ account: "shop", key: "1" });
    outages.count = 3;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "admitted" });
  });

  it("bans a key that calls on after its refusals, like any engine", async () => {
    const banPolicy: BanPolicy = { ...defaultBanPolicy, strikes: 1 };
    const { standby, outages } = openScene({ banPolicy });
    outages.count = 1;
    const small = { ...shop, limits: { perMinute: 4, perDay: 100 } };
    expect(await outcomes(standby, 6, small)).toEqual(["admitted", "admitted", ...Array(3).fill("refused"), "banned"]);
  });

  it("keeps the windows of the shared clock when this machine's is an hour off", async () => {
    const { standby, clock, outages } = openScene();
    clock.nowMs = noon + hourMs;
    standby.observe(shop, admitted(40));
    outages.count = 1;
    expect(await grants(standby)).toBe(10);
    clock.nowMs += minuteMs - 1;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "refused", retryAtMs: noon + minuteMs });
    clock.nowMs += 1;
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "admitted", nowMs: noon + minuteMs });
  });

  it("an interrupted outage hands out nothing twice", async () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    expect(await grants(standby)).toBe(10);
    outages.count = 2;
    expect(await grants(standby)).toBe(0);
  });

  it("reset forgets what was seen and granted, and keeps a ban", async () => {
    const { standby, outages } = openScene();
    const bannedUntilMs = noon + hourMs;
    standby.observe(shop, { ...admitted(60), outcome: "banned", bannedUntilMs, retryAtMs: bannedUntilMs });
    await standby.reset("shop");
    outages.count = 1;
    expect(await grants(standby)).toBe(30);
    expect(await standby.reserve(shop, false)).toMatchObject({ outcome: "banned" });
    await standby.reset("shop");
    expect(await grants(standby)).toBe(30);
  });

  it("memory stays bounded: beyond its capacity the account that was idle longest is forgotten", async () => {
    const { standby, outages } = openScene({ capacity: 2 });
    for (const account of ["one", "two", "three"]) standby.observe({ ...shop, account }, admitted(60));
    outages.count = 1;
    expect(await grants(standby, { ...shop, account: "three" })).toBe(0);
    expect(await grants(standby, { ...shop, account: "one" })).toBe(30);
  });
});

describe("what is carried back after an outage", () => {
  const minuteStart = noon;
  const carried = (floor: number, units: number) => ({
    minute: { startMs: minuteStart, floor, units },
    day: { startMs: midnight, floor, units },
  });

  it("nothing before the first outage", () => {
    const { standby } = openScene();
    standby.observe(shop, admitted(40));
    expect(standby.takeCarried("shop")).toBeUndefined();
    expect(standby.takeCarried("stranger")).toBeUndefined();
  });

  it("the units granted without Redis and what it had counted before, once", async () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(standby, 3);
    expect(standby.takeCarried("shop")).toEqual(carried(40, 3));
    expect(standby.takeCarried("shop")).toBeUndefined();
  });

  it("what Redis had counted, for an account that spent nothing in the outage", () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    expect(standby.takeCarried("shop")).toEqual(carried(40, 0));
    expect(standby.takeCarried("shop")).toBeUndefined();
  });

  it("units that Redis may have counted raise what it must have counted, and are not added", async () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await standby.reserve(shop, true);
    await standby.reserve(shop, false);
    expect(standby.takeCarried("shop")).toEqual(carried(41, 1));
  });

  it("again, when the call that brought it was refused; as counted, when its answer was lost", async () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(standby, 3);
    const first = standby.takeCarried("shop");
    if (first !== undefined) standby.putBack("shop", first);
    expect(standby.takeCarried("shop")).toEqual(carried(40, 3));
    outages.count = 2;
    expect(standby.takeCarried("shop")).toEqual(carried(43, 0));
  });

  it("a unit granted at the moment the outage ends is carried by the next call", async () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    const late = standby.reserve(shop, false);
    standby.takeCarried("shop");
    await late;
    expect(standby.takeCarried("shop")).toEqual(carried(40, 1));
  });

  it("a refund takes back a unit granted without Redis, and none that Redis has counted", async () => {
    const { standby, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    const spentIn = await standby.reserve(shop, false);
    expect(await standby.refund({ ...shop, spentIn })).toMatchObject({ minute: { used: 50 } });
    expect(standby.takeCarried("shop")).toEqual(carried(40, 0));
    outages.count = 2;
    await standby.refund({ ...shop, spentIn: admitted(40) });
    expect(standby.takeCarried("shop")).toEqual(carried(40, 0));
  });

  it("no refund of an earlier minute in a later one; the day gets it", async () => {
    const { standby, clock, outages } = openScene();
    outages.count = 1;
    const spentIn = await standby.reserve(shop, false);
    clock.nowMs = noon + minuteMs;
    await outcomes(standby, 2);
    await standby.refund({ ...shop, spentIn });
    expect(standby.takeCarried("shop")).toEqual({
      minute: { startMs: noon + minuteMs, floor: 0, units: 2 },
      day: { startMs: midnight, floor: 0, units: 2 },
    });
  });

  it("of a window that is over, nothing", async () => {
    const { standby, clock, outages } = openScene();
    standby.observe(shop, admitted(40));
    outages.count = 1;
    await outcomes(standby, 3);
    clock.nowMs = noon + minuteMs;
    await outcomes(standby, 2);
    expect(standby.takeCarried("shop")).toEqual({
      minute: { startMs: noon + minuteMs, floor: 0, units: 2 },
      day: { startMs: midnight, floor: 40, units: 5 },
    });
  });
});
