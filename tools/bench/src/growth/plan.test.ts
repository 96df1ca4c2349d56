import { expect, test } from "vitest";
import { buffersOf, faultOf, type LoggedPlan, mostBuffers, type PlanNode, plansIn } from "./plan.js";

const condition = "((ROW(status, id) > ROW($1, $2)) AND (status <= $3))";
const walk: PlanNode = { "Node Type": "Index Scan", "Index Name": "pets_status_id", "Index Cond": condition };

test("the plans of a log are read, and what else it says is not", () => {
  const log = [
    "2026-11-21 21:26:43 UTC [1] LOG:  duration: 0.020 ms  plan:",
    "\t{",
    '\t  "Query Text": "select 1",',
    '\t  "Plan": { "Node Type": "Result", "Shared Hit Blocks": 4, "Shared Read Blocks": 3 }',
    "\t}",
    "2026-11-21 21:26:44 UTC [1] LOG:  checkpoint starting: time",
    "2026-11-21 21:26:45 UTC [1] LOG:  duration: 0.030 ms  plan:",
    '\t{ "Query Text": "select 2", "Plan": { "Node Type": "Result" } }',
    "",
  ].join("\n");
  const plans = plansIn(log);
  expect(plans.map((plan) => plan["Query Text"])).toEqual(["select 1", "select 2"]);
  expect(plans.map(buffersOf)).toEqual([7, 0]);
});

test("a walk along the index on (status, id) is as it should be, up to its number of buffers", () => {
  expect(faultOf(limited(walk, mostBuffers(21)), 21)).toBeUndefined();
  expect(faultOf(limited(walk, mostBuffers(21) + 1), 21)).toBe("28 buffers");
});

test.each<{ what: string; node: PlanNode; said: string }>([
  {
    what: "another index",
    node: { ...walk, "Index Name": "pets_pkey", "Index Cond": "(id > $2)", Filter: "(status = $1)" },
    said: "Limit <- Index Scan using pets_pkey on (id > $2), filter (status = $1)",
  },
  {
    what: "a filter",
    node: { ...walk, Filter: "(id > $2)" },
    said: `Limit <- Index Scan using pets_status_id on ${condition}, filter (id > $2)`,
  },
  {
    what: "a sort",
    node: { "Node Type": "Sort", Plans: [walk] },
    said: `Limit <- Sort <- Index Scan using pets_status_id on ${condition}`,
  },
  { what: "no index", node: { "Node Type": "Seq Scan" }, said: "Limit <- Seq Scan" },
])("a plan with $what is described", ({ node, said }) => {
  expect(faultOf(limited(node, 4), 21)).toBe(said);
});

test("an index that is walked from end to end is no good", () => {
  const { "Index Cond": _, ...whole } = walk;
  expect(faultOf(limited(whole, 4), 21)).toBeDefined();
});

function limited(node: PlanNode, buffers: number): LoggedPlan {
  return { "Query Text": "select", Plan: { "Node Type": "Limit", "Shared Hit Blocks": buffers, Plans: [node] } };
}
