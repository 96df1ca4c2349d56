import { formatTable } from "@petstore/harness/figures";
import { limitsOf } from "../src/quota/plan.js";
import { belowTwiceTheLimit, burst, fleet, patient, pool } from "./clients.js";
import { count, type Figure, type Suite } from "./figure.js";
import type { Simulation } from "./simulation.js";
import {
  type LoopTraffic,
  simulatedMinutes,
  type Traffic,
  watchClients,
  watchLoop,
  watchTightLoop,
} from "./traffic.js";

/** Loops that must be banned on Free. A larger plan grants more units before its first refusal. */
const loops = [
  { requestsPerSecond: 100, banWithinMs: 10_000 },
  { requestsPerSecond: 10, banWithinMs: 60_000 },
];

/** The maximum for each plan: a loop makes ten times the requests of other clients. */
const loopRuns = 100;

const plans = [
  { plan: "Free", limits: limitsOf({ plan: "free" }), seeds: 600, mustBanLoops: true },
  { plan: "Pro", limits: limitsOf({ plan: "pro" }), seeds: 120, mustBanLoops: false },
  { plan: "Business", limits: limitsOf({ plan: "business" }), seeds: 60, mustBanLoops: false },
];

/** How many programs share one key. */
const fleetSizes = [10, 21, 40, 100];

interface Waits {
  all: number;
  admitted: number;
}

export const bans: Suite = {
  name: "bans",
  summary: `clients of every plan in virtual time, ${simulatedMinutes} minutes each, under the default ban policy`,
  async run({ seed: firstSeed, print, progress }) {
    const rows: string[][] = [];
    const figures: Figure[] = [];
    const waits: Waits = { all: 0, admitted: 0 };
    const tightLoops: LoopTraffic[] = [];
    for (const { plan, limits, seeds, mustBanLoops } of plans) {
      const drawn = Array.from({ length: seeds }, (_, index) => firstSeed + index);
      const honouring: Traffic[] = [];
      for (const { client, begin } of honouringClients(waits)) {
        const traffic = await each(drawn, (seed) => watchClients(limits, seed, begin));
        rows.push([plan, client, ...cells(traffic)]);
        honouring.push(...traffic);
        progress(`${plan}, ${client}: done`);
      }
      figures.push(neverBanned(`clients that honour Retry-After, ${plan}`, honouring));
      const below = await each(drawn, (seed) => watchClients(limits, seed, belowTwiceTheLimit));
      rows.push([plan, "below twice the limit", ...cells(below)]);
      figures.push(neverBanned(`callers below twice the limit that ignore 429, ${plan}`, below));
      const looping = await each(drawn.slice(0, loopRuns), (seed) => watchTightLoop(limits, seed));
      rows.push([
        plan,
        "tight loop",
        ...cells(looping),
        medianAndMost(looping.map(({ bannedAfterMs }) => bannedAfterMs)),
      ]);
      for (const { requestsPerSecond, banWithinMs } of mustBanLoops ? loops : []) {
        const bannedAfterMs = await each(drawn, (seed) => watchLoop(limits, seed, requestsPerSecond));
        figures.push(bannedSoon(`loop of ${requestsPerSecond} requests/s, ${plan}`, bannedAfterMs, banWithinMs));
      }
      tightLoops.push(...looping);
      progress(`${plan}, tight loop: done`);
    }
    print(
      `\n${formatTable([["plan", "client", "runs", "requests", "refused", "banned", "after (median, most)"], ...rows])}\n`,
    );
    return [
      ...figures,
      ...duringBans(tightLoops),
      allOf("bans: admitted after waiting for Retry-After", waits.admitted, waits.all),
    ];
  },
};

function honouringClients(
  waits: Waits,
): readonly { readonly client: string; readonly begin: (simulation: Simulation) => void }[] {
  return [
    { client: "bursts of 64", begin: (simulation) => burst(simulation, 64) },
    { client: "64 in flight", begin: (simulation) => pool(simulation, 64) },
    ...fleetSizes.map((size) => ({
      client: `fleet of ${size}, one key`,
      begin: (simulation: Simulation) => fleet(simulation, size),
    })),
    {
      client: "one, sequential",
      begin: (simulation) =>
        patient(simulation, ({ outcome }) => {
          waits.all += 1;
          if (outcome === "admitted") waits.admitted += 1;
        }),
    },
  ];
}

function neverBanned(clients: string, traffic: readonly Traffic[]): Figure {
  const banned = traffic.filter(({ isBanned }) => isBanned).length;
  return {
    figure: `bans: runs of ${clients}`,
    required: "0 % banned",
    measured: `${percent(banned / traffic.length)} of ${count(traffic.length)}`,
    isMet: banned === 0,
  };
}

function bannedSoon(loop: string, bannedAfterMs: readonly number[], banWithinMs: number): Figure {
  const soon = bannedAfterMs.filter((afterMs) => afterMs <= banWithinMs).length;
  return {
    figure: `bans: ${loop}`,
    required: `banned within ${banWithinMs / 1_000} s`,
    measured: `${soon} of ${bannedAfterMs.length}, ${medianAndMost(bannedAfterMs)}`,
    isMet: soon === bannedAfterMs.length,
  };
}

function duringBans(loops: readonly LoopTraffic[]): readonly Figure[] {
  const sum = (of: (loop: LoopTraffic) => number) => loops.reduce((total, loop) => total + of(loop), 0);
  const lengthenings = sum((loop) => loop.lengthenings);
  const requests = sum((loop) => loop.requestsDuringBan);
  const how = (holds: (loop: LoopTraffic) => boolean) => loops.filter(holds).length;
  return [
    allOf(
      "bans: a banned key's sibling key is admitted",
      how(({ isSiblingAdmitted }) => isSiblingAdmitted),
      loops.length,
    ),
    {
      figure: "bans: requests during a ban that lengthened it",
      required: "0",
      measured: `${lengthenings} of ${count(requests)}`,
      isMet: lengthenings === 0 && requests > 0,
    },
    allOf(
      "bans: over when announced, although the key kept calling",
      how(({ isOverOnTime }) => isOverOnTime),
      loops.length,
    ),
    allOf(
      "bans: admitted after waiting for a ban's Retry-After",
      how((loop) => loop.isAdmittedAfterWaiting),
      loops.length,
    ),
  ];
}

function allOf(figure: string, met: number, all: number): Figure {
  return { figure, required: "all", measured: `${count(met)} of ${count(all)}`, isMet: met === all && all > 0 };
}

function cells(traffic: readonly Traffic[]): string[] {
  const banned = traffic.filter(({ isBanned }) => isBanned).length / traffic.length;
  const requests = traffic.reduce((sum, one) => sum + one.requests, 0);
  const refused = traffic.reduce((sum, one) => sum + one.refused, 0);
  return [count(traffic.length), count(requests), count(refused), percent(banned)];
}

function medianAndMost(bannedAfterMs: readonly number[]): string {
  const sorted = bannedAfterMs.map((afterMs) => afterMs / 1_000).sort((left, right) => left - right);
  const [median = Number.NaN, most = Number.NaN] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  return `${median.toFixed(1)} s, ${most.toFixed(1)} s`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;
}

async function each<Result>(seeds: readonly number[], run: (seed: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const seed of seeds) results.push(await run(seed));
  return results;
}
