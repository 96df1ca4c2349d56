/** Programs that honour Retry-After in all the ways that almost look as if they did not. */
import { type Decision, retryAfterSeconds } from "../src/quota/decision.js";
import { minuteMs } from "../src/quota/window.js";
import type { Random, Simulation } from "./simulation.js";

/** Sends `width` requests at once, waits for all decisions and for the longest Retry-After among them, and repeats. */
export function burst(simulation: Simulation, width: number): void {
  const costOf = drawCosts(simulation.random);
  const fire = () => {
    let open = width;
    let waitMs = 0;
    for (let request = 0; request < width; request += 1) {
      simulation.call(costOf(), (decision) => {
        waitMs = Math.max(waitMs, waitOf(decision, simulation.random));
        open -= 1;
        if (open === 0) simulation.after(waitMs || 200 * simulation.random(), fire);
      });
    }
  };
  fire();
}

/**
 * `size` programs with one key that know nothing of each other. Some fleets call as fast as they can. Others use their
 * minute up slowly, so that each program is refused at another time.
 */
export function fleet(simulation: Simulation, size: number): void {
  const costOf = drawCosts(simulation.random);
  const longestPauseMs =
    simulation.random() < 0.3 ? 0 : (2 * simulation.random() * size * minuteMs) / simulation.limits.perMinute;
  for (let program = 0; program < size; program += 1) {
    const pauseMs = longestPauseMs * simulation.random();
    const step = () =>
      simulation.call(costOf(), (decision) => {
        simulation.after(waitOf(decision, simulation.random) || pauseMs * 2 * simulation.random(), step);
      });
    simulation.after(5_000 * simulation.random(), step);
  }
}

/** Timers and clocks are not exact: a program wakes up to 0.9 s early or late. 0 after an admission. */
function waitOf(decision: Decision, random: Random): number {
  if (decision.outcome !== "refused" && decision.outcome !== "banned") return 0;
  return Math.max(1, retryAfterSeconds(decision) * 1_000 + 1_800 * (random() - 0.5));
}

/** In some runs every request costs 1, in others a tenth or half of them cost up to 5. */
function drawCosts(random: Random): () => number {
  const dearer = [0, 0.1, 0.5][Math.floor(3 * random())] ?? 0;
  return () => (random() < dearer ? 2 + Math.floor(4 * random()) : 1);
}
