import { expect, it } from "vitest";
import type { Scenario } from "./scenario.js";
import { inGoodTime } from "./schedule.js";

const scenario = (name: string, beginsBest?: Scenario["beginsBest"]): Scenario => ({
  group: "group",
  name,
  cause: "",
  expected: "",
  run: async () => [],
  ...(beginsBest && { beginsBest }),
});
const waiting = scenario("waiting", { from: 30, to: 40 });

it.each([
  { what: "a good one is played in its place", beginsAt: 30, order: ["waiting", "a", "b", "c"] },
  { what: "others go first until it is one", beginsAt: 5, order: ["a", "b", "waiting", "c"] },
  { what: "nothing is waited for when all others are over", beginsAt: 45, order: ["a", "b", "c", "waiting"] },
])("for a row that had better begin in some seconds of a minute: $what", ({ beginsAt, order }) => {
  let second = beginsAt;
  const rowSeconds = 14;
  const played: string[] = [];
  for (const { name } of inGoodTime(
    [waiting, ...["a", "b", "c"].map((name) => scenario(name))],
    () => second * 1_000,
  )) {
    played.push(name);
    second += rowSeconds;
  }
  expect(played).toEqual(order);
});
