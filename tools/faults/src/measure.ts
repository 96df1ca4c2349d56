import { type Exchange, endOf, type Timed } from "./exchange.js";
import { type Window, windowsOf } from "./oracles.js";
import type { Check } from "./scenario.js";
import type { Service } from "./service.js";
import type { Load, Stage } from "./stage.js";

export function atMost(limit: number, what: string, measured: number, unit = ""): Check {
  return { what, measured, unit, limit: { atMost: limit } };
}

export function atLeast(limit: number, what: string, measured: number, unit = ""): Check {
  return { what, measured, unit, limit: { atLeast: limit } };
}

export function exactly(limit: number, what: string, measured: number, unit = ""): Check {
  return { what, measured, unit, limit: { exactly: limit } };
}

export function count<One>(all: readonly One[], matches: (one: One) => boolean): number {
  return all.filter(matches).length;
}

export function checkAlive(services: readonly Service[]): Check[] {
  return [
    exactly(
      0,
      "processes that ended",
      count(services, (service) => service.hasEnded()),
    ),
  ];
}

/** The requests under way when it failed may take a command timeout more; all later ones are as fast as before. */
export function checkLatency(load: Load, faultAtMs: number, returnAtMs: number): Check[] {
  const settledAtMs = faultAtMs + addedMs + 50;
  const isUnderWay = (one: Timed) => endOf(one) >= faultAtMs && one.sentAtMs < settledAtMs;
  const underWay = percentile(load.exchanges.filter(isUnderWay), 100) - percentile(load.pings.filter(isUnderWay), 100);
  const before = ownP99(load, (one) => one.sentAtMs > faultAtMs - 2_000 && endOf(one) < faultAtMs);
  const later = ownP99(load, (one) => one.sentAtMs >= settledAtMs && one.sentAtMs < returnAtMs);
  return [
    atMost(addedMs, "added to requests under way, the longest", underWay - before, "ms"),
    atMost(Math.max(before, 0) + 25, "later requests, p99 of a usual second", later, "ms"),
  ];
}

/**
 * Of the median second: a fault of ours returns in each of them, a busy moment of the machine does not. And without what
 * a server that does nothing takes at the same time: so slow is the machine. It is a process of its own, so an event loop
 * of ours that is blocked is not taken for a slow machine.
 */
export function ownP99({ exchanges, pings }: Load, isMeant: (one: Timed) => boolean): number {
  const pingsOf = bySecond(pings.filter(isMeant));
  const perSecond = [...bySecond(exchanges.filter(isMeant))].map(
    ([second, sent]) => percentile(sent, 99) - (percentile(pingsOf.get(second) ?? [], 99) || 0),
  );
  return perSecond.sort((left, right) => left - right)[Math.floor(perSecond.length / 2)] ?? Number.NaN;
}

/** What was granted in each window, as a share of its limit. */
export function checkWindows(stage: Stage, exchanges: readonly Exchange[]): Check[] {
  const windows = windowsOf(exchanges, stage.played.marks);
  const touched = windows.filter(({ isTouched }) => isTouched);
  const inside = windows.filter(({ isTouched }) => !isTouched);
  return [
    ...(touched.length > 0 ? [atMost(5, "over in the windows of the fault", worstOver(touched), "%")] : []),
    ...(inside.length > 0
      ? [
          atMost(0, "over in windows the fault did not begin or end in", worstOver(inside), "%"),
          atMost(5, "left ungranted there, demand being higher", Math.max(...inside.map(ungranted)), "%"),
        ]
      : []),
  ];
}

/** The lines in which the services tell that Redis went and returned; written in batches, so a second after. */
export function countTransitions(services: readonly Service[]): { readonly away: number; readonly back: number } {
  const lines = services.flatMap(({ output }) => output);
  return {
    away: lines.filter((line) => line.includes('"Redis is unavailable')).length,
    back: lines.filter((line) => line.includes('"Redis recovered')).length,
  };
}

/** By nearest rank, in milliseconds. */
function percentile(exchanges: readonly Timed[], percent: number): number {
  const durations = exchanges.map(({ durationMs }) => durationMs).sort((left, right) => left - right);
  return durations[Math.ceil((durations.length * percent) / 100) - 1] ?? Number.NaN;
}

/** What may be added, once; a service has given a call up by then. */
const addedMs = 100;

function bySecond(timed: readonly Timed[]): Map<number, Timed[]> {
  const seconds = new Map<number, Timed[]>();
  for (const one of timed) {
    const second = Math.floor(one.sentAtMs / 1_000);
    seconds.set(second, [...(seconds.get(second) ?? []), one]);
  }
  return seconds;
}

function worstOver(windows: readonly Window[]): number {
  return Math.max(...windows.map(({ granted, limit }) => Math.max(0, (100 * (granted - limit)) / limit)));
}

function ungranted({ granted, refused, limit }: Window): number {
  return refused === 0 ? 0 : Math.max(0, (100 * (limit - granted)) / limit);
}
