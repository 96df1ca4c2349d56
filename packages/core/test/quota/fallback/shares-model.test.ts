import { describe, expect, it } from "vitest";
import { explore } from "./shares-model.js";

// `npm run quota:proof` explores larger limits, and plants every fault.
const options = { window: "minute", instances: 3, limit: 3, minutes: 2, loseTogether: true } as const;

describe("the shares of an account that three instances served", () => {
  it("are within the bounds of the operations guide, whichever instance served which request", () => {
    const { states, broken } = explore(options);
    expect(broken).toEqual([]);
    expect(states).toBeGreaterThan(400);
  });

  it("are not if each instance takes the units of all as its own, as the model finds", () => {
    const { broken } = explore({ ...options, fault: "takes the units of all instances as its own" });
    expect(broken.at(-1)).toMatch(/units in a later window$/);
  });
});
