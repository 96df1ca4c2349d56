import { expect, it } from "vitest";
import { batchEqual } from "./batch-equal.js";

it("makes one call for up to 64 equal reservations of one event loop iteration, with a result for each", async () => {
  const calls: { account: string; times: number }[] = [];
  const batch = batchEqual(async ({ account }, times) => {
    calls.push({ account, times });
    return Array.from({ length: times }, (_, place) => place);
  });
  const request = (account: string) => batch({ account, limits: { perMinute: 60, perDay: 1_000 }, cost: 1 });
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
