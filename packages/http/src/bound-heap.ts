/**
 * Bounds what V8 takes beyond what is alive, by flags that V8 reads at every collection. Decision 0014 says what that
 * saves, and costs.
 */
import { setFlagsFromString } from "node:v8";

/** For loading modules and for what the first requests set up: nearly all that is made meanwhile stays. */
const startMs = 2_000;

/** Called first by a program, before the modules are loaded that do its work. */
export function boundHeap(): void {
  // Otherwise several times what is alive is taken before all of it is collected.
  setFlagsFromString("--heap-growing-percent=100");
  setYoungGenerationGrowth(1);
  setTimeout(() => setYoungGenerationGrowth(2), startMs).unref();
}

function setYoungGenerationGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
