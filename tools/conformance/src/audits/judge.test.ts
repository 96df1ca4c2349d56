import { expect, it } from "vitest";
import { deviations, judge } from "./judge.js";

const audit = { id: "22EB", name: "SHOULD do as it is told" };

it("an audit that fails is a difference, with the audit's own reason", () => {
  expect(judge({ ...audit, fault: "status is 500" }, {}).differences).toEqual(["status is 500"]);
});

it("an audit that passes is none", () => {
  expect(judge({ ...audit, fault: undefined }, {}).differences).toEqual([]);
});

it("a listed deviation is none, and is told with its reason", () => {
  const check = judge({ ...audit, fault: "status is 500" }, { "22EB": "on purpose" });
  expect(check).toMatchObject({ differences: [], byDesign: ["on purpose"] });
});

it("a listed deviation that passes is a difference: the list is out of date", () => {
  expect(judge({ ...audit, fault: undefined }, { "22EB": "on purpose" }).differences).toHaveLength(1);
});

it("at most three audits are deviated from", () => {
  expect(Object.keys(deviations).length).toBeLessThanOrEqual(3);
});
