// Every order of requests, replies and faults in a model of the instances, Redis and the fallback.
// A change of the protocol must also change the model.
import { it } from "@petstore/harness/test-with-figures";
import { expect } from "vitest";
import { search } from "./search.js";
import type { Fault, Mistake, Model } from "./state.js";

/** Every size has more requests than the bound allows, so that the search could exceed it. */
const oneFault: Omit<Model, "faults"> = { instances: 3, limit: 3, windows: 2, requests: 6, maxFaults: 1 };
const twoFaults: Omit<Model, "faults"> = { instances: 2, limit: 2, windows: 2, requests: 5, maxFaults: 2 };
/** The bound is higher, so it needs more requests. */
const lostUnits: Omit<Model, "faults"> = { instances: 2, limit: 2, windows: 2, requests: 6, maxFaults: 1 };
const lostUnitsOfOneWindow: Omit<Model, "faults"> = { instances: 3, limit: 3, windows: 1, requests: 8, maxFaults: 1 };
const twoLosses: Omit<Model, "faults"> = { instances: 2, limit: 2, windows: 1, requests: 7, maxFaults: 2 };

it.for<[readonly Fault[], Omit<Model, "faults">]>([
  [["kill"], oneFault],
  [["pause"], oneFault],
  [["read-only"], oneFault],
  [["cut"], oneFault],
  [["kill", "lose data"], lostUnits],
  [["kill", "lose data"], lostUnitsOfOneWindow],
  [["kill", "lose data"], twoLosses],
  [["two primaries"], lostUnits],
  [["kill", "pause", "read-only", "cut"], twoFaults],
])("no state breaks a promise with the faults %s in %j", ([faults, size], { figures }) => {
  const { states, counterexample } = search({ ...size, faults });
  expect(counterexample).toBeUndefined();
  figures.atLeast(1_000, "states visited", states);
});

// Each mistake with the fault that reveals it.
it.each<[Mistake, Fault, Partial<Model>]>([
  ["a carried unit stays unsynced", "kill", {}],
  ["a call without a reply counts as not executed", "cut", {}],
  ["Redis is not raised to the last known count", "kill", {}],
  ["an outage starts from an unused share", "kill", {}],
  ["carried units are not restored after an error reply", "read-only", { requests: 5, maxFaults: 2 }],
  ["an instance changes the primary without an outage", "two primaries", {}],
])("the search finds the mistake: %s", (mistake, fault, change) => {
  expect(search({ ...oneFault, ...change, faults: [fault], mistake }).counterexample).toBeDefined();
});
