import { setImmediate as nextTick } from "node:timers/promises";
import { expect, it } from "vitest";
import { batchEqual } from "./batch-equal.js";

/** Resolves each request with its place in the call. Calls for the account `bad` reject. */
function openBatches() {
  const calls: { account: string; times: number }[] = [];
  const request = batchEqual(async ({ account }, times) => {
    calls.push({ account, times });
    await nextTick();
    if (account === "bad") throw new Error("bad account");
    return Array.from({ length: times }, (_, place) => place);
  });
  const limits = { perMinute: 60, perDay: 1_000 };
  return { calls, request: (account: string) => request({ account, limits, cost: 1 }) };
}

it("makes one call for up to 64 equal reservations of one event loop iteration, with a result for each", async () => {
  const { calls, request } = openBatches();
  expect(await Promise.all(["ant", "bee", "ant", "ant"].map((account) => request(account)))).toEqual([0, 0, 1, 2]);
  expect(calls).toEqual([
    { account: "ant", times: 3 },
    { account: "bee", times: 1 },
  ]);
  await Promise.all(Array(65).fill("cat").map(request));
  expect(calls.slice(2)).toEqual([
    { account: "cat", times: 64 },
    { account: "cat", times: 1 },
  ]);
});

it("rejects all requests of a call that fails, and no others", async () => {
  const { request } = openBatches();
  const outcomes = await Promise.allSettled(["bad", "ant", "bad"].map((account) => request(account)));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
});
