// Every order of the steps of writers, an instance and two readers (test/pages/walks-model.ts). No walk may pass a pet, and each
// planted fault must be found.
import { describe, expect, it } from "vitest";
import { explore, type Fault, faults, type Options } from "../test/pages/walks-model.js";

const both = ["walker", "follower"] as const;

it.each([
  { writers: 3, readers: both, hasFailover: false },
  { writers: 3, readers: ["walker"], hasFailover: false },
  { writers: 2, readers: ["walker"], hasFailover: true },
  { writers: 2, readers: ["follower"], hasFailover: true },
] satisfies Options[])("walks pass no pet: %j", (options) => {
  expect(explore(options).loss).toEqual([]);
});

/** Faults that two writers and two readers do not reveal. */
const others: Readonly<Partial<Record<Fault, Options>>> = {
  "compares the page with what was settled after its read": { writers: 2, readers: ["follower"], hasFailover: false },
  "keeps pages that are not settled": { writers: 3, readers: both, hasFailover: false },
  "settles the drawn id instead of a stored one, and does not notice a failover": {
    writers: 2,
    readers: ["follower"],
    hasFailover: true,
  },
  "keeps the settled id over a failover": { writers: 2, readers: ["follower"], hasFailover: true },
  "keeps pages over a failover": { writers: 2, readers: ["walker"], hasFailover: true },
};

describe("a walk passes a pet, as the model finds, if the service", () => {
  it.each(faults)("%s", (fault) => {
    const options = others[fault] ?? { writers: 2, readers: both, hasFailover: false };
    expect(explore({ ...options, fault }).loss).not.toEqual([]);
  });
});
