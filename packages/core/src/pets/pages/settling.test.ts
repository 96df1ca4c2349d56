import { describe, expect, it } from "vitest";
import { nothingSettled, type Observation, type Settling, settle } from "./settling.js";

const noneIgnored = () => false;

function seen(drawn: number, openInserts: readonly string[], stored: readonly number[], sequence = "1"): Observation {
  return { server: "1", sequence, drawn: BigInt(drawn), openInserts, stored: stored.map(BigInt) };
}

/** The state after these observations. */
function after(observations: readonly Observation[], isIgnored: (insert: string) => boolean = noneIgnored): Settling {
  return observations.reduce((state, observation) => settle(state, observation, isIgnored), nothingSettled);
}

describe("the settled id", () => {
  it("is the highest stored id, not the last drawn one, while no insert is open", () => {
    expect(after([seen(7, [], [5])])).toEqual({ sequence: "1", settledId: 5n, marks: [] });
    expect(after([seen(0, [], [0])]).settledId).toBe(0n);
  });

  it("waits for the inserts of its mark, and not for later ones", () => {
    const open = [seen(2, ["a"], [1]), seen(4, ["a", "b"], [1, 3])];
    expect(after(open).settledId).toBeUndefined();
    expect(after([...open, seen(6, ["b", "c"], [2, 4, 6])]).settledId).toBe(2n);
    expect(after([...open, seen(6, ["b", "c"], [2, 4, 6]), seen(6, ["c"], [4, 6, 6])]).settledId).toBe(4n);
  });

  it("does not wait for an ignored insert", () => {
    expect(after([seen(2, ["forgotten"], [2])], (insert) => insert === "forgotten").settledId).toBe(2n);
  });

  it("waits for a transaction that loses its process because it is prepared", () => {
    const open = [seen(2, ["17 3/4"], [1]), seen(2, ["prepared 3/4"], [1, 1])];
    expect(after(open).settledId).toBeUndefined();
    expect(after([...open, seen(2, [], [2, 2])]).settledId).toBe(2n);
  });

  it("stays when the pet is deleted", () => {
    expect(after([seen(5, [], [5]), seen(5, [], [3])]).settledId).toBe(5n);
  });

  it.each([
    ["another sequence", seen(9, ["a"], [1, 2], "2")],
    ["a sequence that was set back", seen(4, ["a"], [1, 2])],
  ])("is unknown with %s", (_case, observation) => {
    const before = after([seen(5, [], [5]), seen(6, ["old"], [5])]);
    expect(settle(before, observation, noneIgnored)).toMatchObject({
      settledId: undefined,
      marks: [{ waitsFor: ["a"] }],
    });
  });
});

it("remembers a bounded number of marks behind an insert that stays open", () => {
  let state = nothingSettled;
  for (let drawn = 1; drawn < 1_000; drawn += 1) {
    state = settle(state, seen(drawn, ["open"], [...state.marks.map(() => 0), 0]), noneIgnored);
  }
  expect(state.marks.length).toBeLessThan(100);
});
