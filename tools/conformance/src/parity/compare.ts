import type { ApiName } from "../apis/api.js";
import { type Facts, isSame } from "./facts.js";
import type { Deviation } from "./scenario.js";

export interface Comparison {
  /** A sentence each. */
  readonly differences: readonly string[];
  /** The deviations that were met as they are described. */
  readonly met: readonly Deviation[];
}

/** How an API's answer differs from the reference's, deviations by design apart. One that is not met is a difference too. */
export function compare(
  reference: Facts,
  facts: Facts,
  api: ApiName,
  deviations: readonly Deviation[] = [],
): Comparison {
  const differences: string[] = [];
  const met: Deviation[] = [];
  const names = new Set([...reference.keys(), ...facts.keys()]);
  for (const deviation of deviations) if (deviation.api === api) names.add(deviation.fact);
  for (const name of names) {
    // Plain `pets` does not tell where the next page begins, as the contract's array does not.
    if (name === "next cursor" && !facts.has(name)) continue;
    const [expected, said] = [reference.get(name), facts.get(name)];
    const deviation = deviations.find((one) => one.api === api && one.fact === name);
    if (deviation === undefined) {
      if (!isSame(name, expected, said))
        differences.push(`${name}: ${quote(expected)} at REST, ${quote(said)} at ${api}`);
    } else if (said === deviation.value && said !== expected) {
      met.push(deviation);
    } else {
      differences.push(`${name}: ${quote(said)} at ${api}, where by design it has ${quote(deviation.value)}`);
    }
  }
  return { differences, met };
}

function quote(value: string | undefined): string {
  return value === undefined ? "nothing" : `"${value}"`;
}
