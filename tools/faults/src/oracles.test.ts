import { expect, it } from "vitest";
import type { Exchange } from "./exchange.js";
import { countOracles, windowsOf } from "./oracles.js";
import type { Store } from "./store.js";

const minute = Date.UTC(2031, 4, 14, 12);
const good: Exchange = {
  sentAtMs: minute,
  durationMs: 5,
  status: 200,
  code: undefined,
  retryAfterSeconds: undefined,
  rateLimit: { limit: 100, remaining: 50, resetAtMs: minute + 60_000 },
  failure: undefined,
  leaks: false,
  asked: undefined,
  created: undefined,
};

function count(exchanges: readonly Exchange[], { rows = {}, marks = [] as number[], output = [] as string[] } = {}) {
  const store = { countByName: async () => new Map(Object.entries(rows)) } as unknown as Store;
  const load = { exchanges, pings: [], stop: async () => {}, done: Promise.resolve() };
  return countOracles({ loads: [load], programs: [{ output }], marks }, store);
}

it("finds nothing in a good answer", async () => {
  expect(await count([good, { ...good, asked: "Ada", created: "Ada" }], { rows: { Ada: 1 } })).toEqual({
    lost: 0,
    dup: 0,
    over: 0,
    hdr: 0,
    hang: 0,
    leak: 0,
    failed: 0,
  });
});

it.each([
  ["lost", { asked: "Ada", created: "Ada" }, {}],
  ["dup", { asked: "Ada", created: "Ada" }, { rows: { Ada: 2 } }],
  ["dup", { asked: "Ada" }, { rows: { Ada: 2 } }],
  ["hdr", { rateLimit: undefined }, {}],
  ["hang", { durationMs: 5_001 }, {}],
  ["leak", { leaks: true }, {}],
  ["leak", {}, { output: ["at handle (/srv/main.js:1:1)"] }],
  ["failed", { status: 503, failure: "503 SERVICE_UNAVAILABLE" }, {}],
] as const)("counts a fault as %s", async (name, fault, found) => {
  expect(await count([{ ...good, ...fault } as Exchange], found as object)).toMatchObject({ [name]: 1 });
});

it.each([
  ["100 of 100", 100, [], 0],
  ["101 of 100", 101, [], 1],
  ["105 of 100 in a window of the fault", 105, [minute + 59_999], 0],
  ["106 of 100 in a window of the fault", 106, [minute], 1],
  ["101 of 100 in the window after it", 101, [minute - 1], 1],
] as const)("%s", async (_what, granted, marks, over) => {
  const refused = { ...good, status: 429 };
  expect(await count([...Array(granted).fill(good), refused], { marks: [...marks] })).toMatchObject({ over });
});

it("takes a response's own Reset for its window", () => {
  const next = { ...good, rateLimit: { limit: 100, remaining: 99, resetAtMs: minute + 120_000 } };
  expect(windowsOf([good, good, next], []).map(({ granted }) => granted)).toEqual([2, 1]);
});
