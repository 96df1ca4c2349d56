import { readAnswer } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { countOracles, type Evidence, type Oracles } from "../faults/environment/oracles.js";
import { type Result, resultOf } from "../faults/environment/results.js";

const minute = Date.UTC(2031, 4, 14, 12);
const headers = {
  "x-ratelimit-limit": "100",
  "x-ratelimit-remaining": "50",
  "x-ratelimit-reset": `${minute / 1_000 + 60}`,
};
const good = resultWith({});
const created = { requestedPet: "Ada", acknowledgedPet: "Ada" };
const nothing: Oracles = await countFaults([], {});

function resultWith(more: Readonly<Record<string, string>>): Result {
  const answer = readAnswer({ status: 200, headers: { ...headers, ...more }, text: "[]" }, minute);
  return { ...resultOf(answer), durationMs: 5 };
}

function countFaults(results: readonly Result[], stored: Record<string, number>, evidence: Partial<Evidence> = {}) {
  const database = { countByName: async () => new Map(Object.entries(stored)) };
  return countOracles({ loads: [results], outputs: [], faultTimes: [], ...evidence }, database);
}

it.each<[keyof Oracles, Partial<Result>, Record<string, number>, Partial<Evidence>?]>([
  ["acknowledged creates without a pet", created, {}],
  ["second pets of one idempotency key", created, { Ada: 2 }],
  ["second pets of one idempotency key", { requestedPet: "Ada" }, { Ada: 2 }],
  ["responses without X-RateLimit headers", { rateLimit: { limit: 100, remaining: Number.NaN, reset: 1 } }, {}],
  ["requests over 5 s", { durationMs: 5_001 }, {}],
  ["responses and log lines that leak", resultWith({ "www-authenticate": "Bearer pets_live_x" }), {}],
  ["responses and log lines that leak", {}, {}, { outputs: [["at handle (/srv/main.js:1:1)"]] }],
  ["failed requests", { status: 503, failure: "503 SERVICE_UNAVAILABLE" }, {}],
])("counts a fault as %s", async (name, fault, stored, evidence) => {
  expect(await countFaults([{ ...good, ...fault }], stored, evidence)).toEqual({ ...nothing, [name]: 1 });
});

it.each<[string, number, readonly number[], number]>([
  ["100 of 100 units", 100, [], 0],
  ["101 of 100 units", 101, [], 1],
  ["105 of 100 units in a window with a fault", 105, [minute + 59_999], 0],
  ["106 of 100 units in a window with a fault", 106, [minute], 1],
  ["101 of 100 units in the window after the fault", 101, [minute - 1], 1],
])("counts the units above the limit for %s", async (_what, granted, faultTimes, over) => {
  const refused = { ...good, status: 429 };
  const results = [...Array<Result>(granted).fill(good), refused];
  expect(await countFaults(results, {}, { faultTimes })).toEqual({ ...nothing, "units above a limit": over });
});
