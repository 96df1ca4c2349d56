// Every order of the steps of writers, an instance and two readers (test/pages/walks-model.ts). No walk may pass a pet, and each
// planted fault must be found.
import { describe, expect, it } from "vitest";
import { explore, type Fault, faults } from "../test/pages/walks-model.js";

it.each([
  { writers: 3, hasFailover: false },
  { writers: 2, hasFailover: true },
])("walks pass no pet: $writers writers, failover: $hasFailover", (options) => {
  expect(explore(options).loss).toEqual([]);
});

describe("a walk passes a pet, as the model finds, if the service", () => {
  it.each(faults)("%s", (fault: Fault) => {
    const { loss } = explore({ writers: 2, hasFailover: fault.includes("failover"), fault });
    expect(loss).not.toEqual([]);
  });
});
