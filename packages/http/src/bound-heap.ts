/**
 * Bounds what V8 takes beyond what is alive, by flags that V8 reads at every collection. Decision 0014 says what that
 * saves, and costs.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** A collection of the young generation costs what is alive in it; a larger one is collected less often. */
const youngGenerationBytes = 16 * 2 ** 20;
/** For loading modules and for what the first requests set up: nearly all that is made meanwhile stays. */
const startMs = 2_000;
/** Under a sudden load it can double once more between two looks. */
const lookIntervalMs = 100;

/** Called first by a program, before the modules are loaded that do its work. */
export function boundHeap(): void {
  // Otherwise several times what is alive is taken before all of it is collected.
  setFlagsFromString("--heap-growing-percent=100");
  setYoungGenerationGrowth(false);
  setTimeout(() => setInterval(look, lookIntervalMs).unref(), startMs).unref();
}

function look(): void {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  setYoungGenerationGrowth(young !== undefined && young.space_size < youngGenerationBytes);
}

function setYoungGenerationGrowth(isGrowing: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${isGrowing ? 2 : 1}`);
}
