import { formatTable } from "@petstore/harness/figures";
import { count, type Figure, type Suite } from "../figure.js";
import { boundOf, type SearchResult, search } from "./search.js";
import type { Fault, Mistake, Model } from "./state.js";

/** Enough requests to exceed the bound, if the protocol allowed it. */
const oneFault: Omit<Model, "faults"> = { instances: 3, limit: 3, requests: 6, maxFaults: 1 };
const twoFaults: Omit<Model, "faults"> = { instances: 2, limit: 2, requests: 5, maxFaults: 2 };

const faults: readonly (readonly Fault[])[] = [["kill"], ["kill", "lose data"], ["pause"], ["read-only"], ["cut"]];

/** With the fault that shows it. */
const mistakes: readonly (readonly [mistake: Mistake, fault: Fault, change?: Partial<Model>])[] = [
  ["a carried unit stays unsynced", "kill"],
  ["a call without a reply counts as not executed", "cut"],
  ["Redis is not raised to the last known count", "kill"],
  ["an outage starts from an unused share", "kill"],
  ["carried units are not restored after an error reply", "read-only", { ...twoFaults, instances: 3, limit: 3 }],
];

export const protocol: Suite = {
  name: "protocol",
  summary: "every order of requests, replies and faults in a model of the instances, Redis and the fallback",
  async run({ print, progress }) {
    const figures: Figure[] = [];
    const explore = (kinds: readonly Fault[], size: Omit<Model, "faults">) => {
      const model: Model = { ...size, faults: kinds };
      const result = search(model);
      const { instances, limit, requests, maxFaults } = model;
      const what = `${instances} instances, limit ${limit}, ${requests} requests, faults: ${maxFaults} x ${kinds.join(", ")}`;
      progress(`${what}: ${count(result.states)} states`);
      if (result.counterexample !== undefined) print(`\n${what}\n${describe(result)}`);
      figures.push({
        figure: `protocol: ${what}`,
        required: `at most ${boundOf(model)} admitted, no promise broken`,
        measured: result.counterexample?.promise ?? `${result.mostAdmitted} in ${count(result.states)} states`,
        isMet: result.counterexample === undefined,
      });
    };
    for (const kinds of faults) explore(kinds, oneFault);
    explore(["kill", "pause", "read-only", "cut"], twoFaults);

    const found = mistakes.map(([mistake, fault, change]) => {
      const { counterexample } = search({ ...oneFault, ...change, faults: [fault], mistake });
      return [mistake, counterexample?.promise ?? "NOT FOUND"] as const;
    });
    print(`\n${formatTable([["planted mistake in the protocol", "found by"], ...found])}\n`);
    figures.push({
      figure: "protocol: planted mistakes found",
      required: `all ${mistakes.length}`,
      measured: count(found.filter(([, promise]) => promise !== "NOT FOUND").length),
      isMet: found.every(([, promise]) => promise !== "NOT FOUND"),
    });
    return figures;
  },
};

function describe({ counterexample }: SearchResult): string {
  return `${counterexample?.promise}:\n${counterexample?.steps.map((step) => `  ${step}\n`).join("")}`;
}
