/** How programs call: those that honour Retry-After, in all the ways that come near to looking as if they did not. */
import { type Decision, retryAfterSeconds } from "../src/quota/decision.js";
import type { Network, Random, World } from "./simulation.js";

/** Across a country: some 20 ms one way, and every hundredth packet is sent again. */
const internet: Network = (random) => 2 - 20 * Math.log(1 - random()) + (random() < 0.01 ? 1_000 * random() : 0);
/** In the same building: 1 to 8 ms there and back. */
const nearby: Network = (random) => 0.5 + 3.5 * random();

/** Fires that many requests at once, waits for all answers and for the longest Retry-After among them, and goes on. */
export function burst(world: World, width: number): void {
  let open = width;
  let waitMs = 0;
  for (let request = 0; request < width; request += 1) {
    world.call("key", costOf(world.random), internet, (decision) => {
      waitMs = Math.max(waitMs, waitOf(decision, world.random));
      open -= 1;
      if (open === 0) world.after(waitMs || 200 * world.random(), () => burst(world, width));
    });
  }
}

/** That many programs with one key, each calling one request after the other, some hurriedly and some at leisure. */
export function fleet(world: World, size: number): void {
  for (let program = 0; program < size; program += 1) {
    const pauseMs = world.random() < 0.5 ? 0 : 4_000 * world.random();
    const step = () =>
      world.call("key", costOf(world.random), internet, (decision) => {
        world.after(waitOf(decision, world.random) || pauseMs * 2 * world.random(), step);
      });
    world.after(5_000 * world.random(), step);
  }
}

/** Calls one request after the other and waits exactly as long as it is told; `onWaited` hears what that led to. */
export function patient(world: World, onWaited: (decision: Decision) => void): void {
  const step = (hasWaited: boolean) =>
    world.call("key", 1, internet, (decision) => {
      if (hasWaited) onWaited(decision);
      const waits = decision.outcome === "refused" || decision.outcome === "banned";
      world.after(waits ? retryAfterSeconds(decision) * 1_000 : 0, () => step(waits));
    });
  step(false);
}

/** Calls again as soon as it has an answer, whatever that is; `until` says when it has had enough. */
export function tightLoop(world: World, until: (decision: Decision) => boolean, onEnd: (last: Decision) => void): void {
  world.call("key", 1, nearby, (decision) => {
    if (until(decision)) onEnd(decision);
    else tightLoop(world, until, onEnd);
  });
}

/** Timers and clocks are not exact: it wakes up to 0.9 s early or late. 0 when there is nothing to wait for. */
function waitOf(decision: Decision, random: Random): number {
  if (decision.outcome !== "refused" && decision.outcome !== "banned") return 0;
  return Math.max(1, retryAfterSeconds(decision) * 1_000 + 1_800 * (random() - 0.5));
}

/** Mostly 1, now and then up to 5. */
function costOf(random: Random): number {
  return random() < 0.9 ? 1 : 2 + Math.floor(4 * random());
}
