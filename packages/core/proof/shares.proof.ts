// Every order in which instances serve an account until Redis fails (test/quota/fallback/shares-model.ts). What they grant by
// themselves is within the bounds of the operations guide, and each planted fault is found.
import { describe, expect, it } from "vitest";
import { explore, type Fault, faults, type Options } from "../test/quota/fallback/shares-model.js";

const minute = { window: "minute", instances: 3, minutes: 3, loseTogether: true } as const;
const day = { window: "day", instances: 3, minutes: 1, loseTogether: false } as const;

it.each([
  { ...minute, limit: 4 },
  { ...minute, limit: 3, loseTogether: false },
  { ...minute, limit: 2, loseTogether: false },
  { ...minute, limit: 4, instances: 2, loseTogether: false },
  { ...day, limit: 8 },
  { ...day, limit: 2 },
  { ...day, limit: 4, instances: 4 },
] satisfies Options[])("instances grant at most the bound: %j", (options) => {
  expect(explore(options).broken).toEqual([]);
});

/** Faults that other options reveal. */
const others: Readonly<Partial<Record<Fault, Options>>> = {
  "divides own units by the units that the instance knows of": { ...day, limit: 4 },
  "grants one unit at least": { ...minute, limit: 2 },
};

describe("the model finds an instance that", () => {
  it.each(faults)("%s", (fault) => {
    const options = others[fault] ?? { ...minute, limit: 4 };
    expect(explore({ ...options, fault }).broken).not.toEqual([]);
  });
});
