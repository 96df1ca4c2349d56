import { nowMs } from "./ask.js";
import type { Scenario } from "./scenario.js";

/** All of them in their order, but for those that had better begin later in a minute: others go first meanwhile. */
export function* inGoodTime(scenarios: readonly Scenario[], clock: () => number = nowMs): Generator<Scenario> {
  const left = [...scenarios];
  while (left.length > 0) {
    const second = (clock() / 1_000) % 60;
    const best = left.findIndex((scenario) => isGoodAt(second, scenario));
    yield* left.splice(Math.max(best, 0), 1);
  }
}

function isGoodAt(second: number, { beginsBest }: Scenario): boolean {
  return beginsBest === undefined || (second >= beginsBest.from && second < beginsBest.to);
}
