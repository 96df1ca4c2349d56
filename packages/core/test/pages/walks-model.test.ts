import { describe, expect, it } from "vitest";
import { explore } from "./walks-model.js";

// `npm run quota:proof` explores more writers and failovers, and plants every fault.
const options = { writers: 2, readers: ["walker", "follower"], hasFailover: false } as const;

describe("walks while two writers create pets", () => {
  it("pass no pet, in any order of the steps", () => {
    const { states, loss } = explore(options);
    expect(loss).toEqual([]);
    expect(states).toBeGreaterThan(10_000);
  });

  it("pass one if ids settle without a wait, as the model finds", () => {
    const { loss } = explore({ ...options, fault: "settles without waiting" });
    expect(loss.at(-1)).toMatch(/pet 1$/);
  });
});
