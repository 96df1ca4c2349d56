import { type Decision, retryAfterSeconds } from "../src/quota/decision.js";
import type { Limits } from "../src/quota/plan.js";
import { dayMs, minuteMs } from "../src/quota/window.js";
import { loop, tightLoop } from "./clients.js";
import { createRandom, type Simulation, simulate } from "./simulation.js";

export const simulatedMinutes = 12;

const midnightMs = Date.UTC(2031, 4, 14);

export interface Traffic {
  readonly requests: number;
  readonly refused: number;
  readonly isBanned: boolean;
}

export interface LoopTraffic extends Traffic {
  /** Counted from the first request. */
  readonly bannedAfterMs: number;
  readonly requestsDuringBan: number;
  /** The requests after which the ban ended later than announced at first. */
  readonly lengthenings: number;
  readonly isOverOnTime: boolean;
  readonly isSiblingAdmitted: boolean;
  readonly isAdmittedAfterWaiting: boolean;
}

/** Some minutes at a random time of day, often across midnight, often with a day that is used up in these minutes. */
export async function watchClients(
  limits: Limits,
  seed: number,
  begin: (simulation: Simulation) => void,
): Promise<Traffic> {
  const random = createRandom(seed);
  const minutesBefore = random() < 0.3 ? simulatedMinutes * random() : 12 * 60 * random() + simulatedMinutes;
  const minutesLeft = random() < 0.5 ? 6 * random() : Number.POSITIVE_INFINITY;
  const startMs = midnightMs + dayMs - Math.floor(minutesBefore * minuteMs);
  const spentOfDay = Math.max(0, Math.floor(limits.perDay - minutesLeft * limits.perMinute));
  const counted = countTraffic();
  await simulate({ limits, seed, startMs, spentOfDay, ...counted.options(startMs) }, begin);
  return counted.traffic();
}

/** The milliseconds from the first request of a loop that ignores every refusal to its ban. */
export async function watchLoop(limits: Limits, seed: number, requestsPerSecond: number): Promise<number> {
  const startMs = midnightMs + Math.floor(20 * 60 * minuteMs * createRandom(seed)());
  const counted = countTraffic();
  let bannedAfterMs = Number.POSITIVE_INFINITY;
  const options = { ...counted.options(startMs), endMs: startMs + 2 * minuteMs };
  await simulate({ limits, seed, startMs, spentOfDay: 0, ...options }, (simulation) => {
    loop(simulation, requestsPerSecond, ({ outcome }) => {
      if (outcome === "banned") bannedAfterMs = Math.min(bannedAfterMs, simulation.nowMs() - startMs);
    });
  });
  return bannedAfterMs;
}

/**
 * A loop that ignores everything until its first ban is over, continues until it is banned again, and then waits as told.
 * After the first ban, another key of the account calls in the next minute.
 */
export async function watchTightLoop(limits: Limits, seed: number): Promise<LoopTraffic> {
  const startMs = midnightMs + Math.floor(20 * 60 * minuteMs * createRandom(seed)());
  const counted = countTraffic();
  const seen = {
    bannedAfterMs: Number.POSITIVE_INFINITY,
    requestsDuringBan: 0,
    lengthenings: 0,
    isOverOnTime: false,
    isSiblingAdmitted: false,
    isAdmittedAfterWaiting: false,
  };
  await simulate({ limits, seed, startMs, spentOfDay: 0, ...counted.options(startMs) }, (simulation) => {
    const ignoreUntilBanned = (then: (ban: Decision & { outcome: "banned" }) => void) => {
      tightLoop(
        simulation,
        ({ outcome }) => outcome === "banned",
        (last) => last.outcome === "banned" && then(last),
      );
    };
    ignoreUntilBanned((ban) => {
      seen.bannedAfterMs = ban.nowMs - startMs;
      simulation.after(ban.minute.resetAtMs - simulation.nowMs(), () => {
        simulation.call(
          "sibling",
          1,
          () => 1,
          ({ outcome }) => {
            seen.isSiblingAdmitted = outcome === "admitted";
          },
        );
      });
      const isOver = (decision: Decision) => {
        if (decision.outcome !== "banned") return true;
        seen.requestsDuringBan += 1;
        if (decision.bannedUntilMs > ban.bannedUntilMs) seen.lengthenings += 1;
        return false;
      };
      tightLoop(simulation, isOver, (first) => {
        seen.isOverOnTime = first.nowMs >= ban.bannedUntilMs && first.nowMs < ban.bannedUntilMs + 20;
        ignoreUntilBanned((second) => {
          simulation.after(retryAfterSeconds(second) * 1_000, () => {
            simulation.call(
              "key",
              1,
              () => 1,
              ({ outcome }) => {
                seen.isAdmittedAfterWaiting = outcome === "admitted";
              },
            );
          });
        });
      });
    });
  });
  return { ...counted.traffic(), ...seen };
}

function countTraffic() {
  const seen = { requests: 0, refused: 0, isBanned: false };
  return {
    traffic: (): Traffic => ({ ...seen }),
    options: (startMs: number) => ({
      endMs: startMs + simulatedMinutes * minuteMs,
      onDecision: ({ outcome }: Decision) => {
        seen.requests += 1;
        if (outcome !== "admitted") seen.refused += 1;
        if (outcome === "banned") seen.isBanned = true;
      },
    }),
  };
}
