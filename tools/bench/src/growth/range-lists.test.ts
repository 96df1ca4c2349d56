import { expect, test } from "vitest";
import { apis } from "./apis.js";
import { listLengths, listsOf } from "./range-lists.js";

test.each(apis)("of 32 connections no two ask $name the same", (api) => {
  const { others = [], ...first } = listsOf(api, { status: "available" }, "key");
  expect(new Set([first, ...others].map((request) => JSON.stringify(request))).size).toBe(32);
});

test("the lists are as long as a page in the mean, give or take half a pet", () => {
  const mean = listLengths.reduce((sum, length) => sum + length, 0) / listLengths.length;
  expect(Math.abs(mean - 20)).toBeLessThanOrEqual(0.5);
});
