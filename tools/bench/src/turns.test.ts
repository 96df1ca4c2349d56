import { expect, test } from "vitest";
import { inTurn, turnsOf } from "./turns.js";

test("every number of callers has its turn in every round, and warms up first", () => {
  expect(turnsOf({ rounds: 2, connections: [1, 32] }).map(({ title }) => title)).toEqual([
    "Warm-up at 1",
    "Warm-up at 32",
    "Round 1 of 2 at 1",
    "Round 1 of 2 at 32",
    "Round 2 of 2 at 1",
    "Round 2 of 2 at 32",
  ]);
});

test("a single number of callers is not repeated in every line", () => {
  expect(turnsOf({ rounds: 1, connections: [32] })).toEqual([
    { title: "Warm-up", number: 0, connections: 32 },
    { title: "Round 1 of 1", number: 1, connections: 32 },
  ]);
});

test("every other round runs backwards", () => {
  expect([0, 1, 2].map((round) => inTurn(["ours", "theirs"], round).join())).toEqual([
    "ours,theirs",
    "theirs,ours",
    "ours,theirs",
  ]);
});
