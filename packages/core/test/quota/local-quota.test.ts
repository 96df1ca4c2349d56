import { describe, expect, it } from "vitest";
import { createCaller, openLocal } from "./caller.js";
import { describeQuota } from "./describe-quota.js";

const noon = Date.UTC(2031, 4, 14, 12);
const limits = { perMinute: 5, perDay: 8 };

describeQuota("local", "local", async (banPolicy) => openLocal({ banPolicy }));

describe("local quota", () => {
  it("memory stays bounded: beyond its capacity the account that was idle longest is forgotten", async () => {
    await using opened = openLocal({ capacity: 2 });
    const [first, second, third] = [0, 1, 2].map(() => createCaller(opened, limits));
    await first?.reserve(noon, 5);
    await second?.reserve(noon, 5);
    await first?.reserve(noon);
    await third?.reserve(noon, 5);
    expect(await first?.usage(noon), "used last").toMatchObject({ minute: { used: 5 } });
    expect(await second?.usage(noon), "idle longest").toMatchObject({ minute: { used: 0 } });
    expect(await third?.usage(noon), "the newest").toMatchObject({ minute: { used: 5 } });
  });

  it("memory stays bounded: to look at accounts, refund or lift bans remembers none of them", async () => {
    await using opened = openLocal({ capacity: 1 });
    const caller = createCaller(opened, limits);
    const admitted = await caller.reserve(noon, 5);
    const other = createCaller(opened, limits);
    await other.usage(noon);
    await other.refund(noon, 1, admitted);
    await other.liftBan(noon);
    await other.reset(noon);
    expect(await caller.usage(noon)).toMatchObject({ minute: { used: 5 } });
  });
});
