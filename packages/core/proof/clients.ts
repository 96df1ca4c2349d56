/** How programs call: those that honour Retry-After, in all the ways that come near to looking as if they did not. */
import { type Decision, retryAfterSeconds } from "../src/quota/decision.js";
import { minuteMs } from "../src/quota/window.js";
import type { Network, Random, World } from "./simulation.js";

/** Across a country: some 20 ms one way, and every hundredth packet is sent again. */
const internet: Network = (random) => 2 - 20 * Math.log(1 - random()) + (random() < 0.01 ? 1_000 * random() : 0);
/** In the same building: 1 to 8 ms there and back. */
const nearby: Network = (random) => 0.5 + 3.5 * random();

/** Fires that many requests at once, waits for all answers and for the longest Retry-After among them, and goes on. */
export function burst(world: World, width: number): void {
  const costOf = drawCosts(world.random);
  const fire = () => {
    let open = width;
    let waitMs = 0;
    for (let request = 0; request < width; request += 1) {
      world.call("key", costOf(), internet, (decision) => {
        waitMs = Math.max(waitMs, waitOf(decision, world.random));
        open -= 1;
        if (open === 0) world.after(waitMs || 200 * world.random(), fire);
      });
    }
  };
  fire();
}

/** One program that keeps that many requests under way, each of which waits for itself when it is refused. */
export function pool(world: World, width: number): void {
  const costOf = drawCosts(world.random);
  const step = () =>
    world.call("key", costOf(), internet, (decision) => {
      world.after(waitOf(decision, world.random), step);
    });
  for (let request = 0; request < width; request += 1) step();
}

/**
 * That many programs with one key, which know nothing of each other. Some fleets are as fast as they can be; others use
 * their minute up at leisure, so that each program hears at another time that it is gone.
 */
export function fleet(world: World, size: number): void {
  const costOf = drawCosts(world.random);
  const longestPauseMs = world.random() < 0.3 ? 0 : (2 * world.random() * size * minuteMs) / world.limits.perMinute;
  for (let program = 0; program < size; program += 1) {
    const pauseMs = longestPauseMs * world.random();
    const step = () =>
      world.call("key", costOf(), internet, (decision) => {
        world.after(waitOf(decision, world.random) || pauseMs * 2 * world.random(), step);
      });
    world.after(5_000 * world.random(), step);
  }
}

/** Ignores every refusal and calls at an even rate, a little below twice what the minute grants. */
export function belowTwiceTheLimit(world: World): void {
  loop(world, (2 * world.limits.perMinute - 1) / 60, () => {});
}

/** Ignores every refusal and calls so often, without waiting for answers. */
export function loop(world: World, requestsPerSecond: number, onAnswer: (decision: Decision) => void): void {
  const step = () => {
    world.call("key", 1, nearby, onAnswer);
    world.after(1_000 / requestsPerSecond, step);
  };
  step();
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

/** In some runs every request costs 1, in others a tenth or half of them cost up to 5. */
function drawCosts(random: Random): () => number {
  const dearer = [0, 0.1, 0.5][Math.floor(3 * random())] ?? 0;
  return () => (random() < dearer ? 2 + Math.floor(4 * random()) : 1);
}
