import { limitsOf } from "../src/quota/plan.js";
import { burst, fleet, patient, pool } from "./clients.js";
import { count, type Figure, type Section, table } from "./figure.js";
import { type LoopTraffic, simulatedMinutes, type Traffic, watchClients, watchTightLoop } from "./scenarios.js";
import type { World } from "./simulation.js";

/** Where a tight loop has to be stopped quickly. A larger plan has more to give before it refuses at all. */
const banWithinMs = 10_000;

/** Of each plan at most: a loop makes ten times the requests of others. */
const loopRuns = 100;

const plans = [
  { plan: "Free", limits: limitsOf({ plan: "free" }), seeds: 1_000, mustBanSoon: true },
  { plan: "Pro", limits: limitsOf({ plan: "pro" }), seeds: 200, mustBanSoon: true },
  { plan: "Business", limits: limitsOf({ plan: "business" }), seeds: 100, mustBanSoon: false },
  { plan: "Enterprise", limits: { perMinute: 5_000, perDay: 1_000_000 }, seeds: 20, mustBanSoon: false },
];

interface Waits {
  all: number;
  admitted: number;
}

export const bans: Section = {
  name: "bans",
  summary: `clients of every plan in virtual time, ${simulatedMinutes} minutes each, under the default ban policy`,
  async run({ seed: firstSeed, print, progress }) {
    const rows: string[][] = [];
    const figures: Figure[] = [];
    const waits: Waits = { all: 0, admitted: 0 };
    const loops: LoopTraffic[] = [];
    for (const { plan, limits, seeds, mustBanSoon } of plans) {
      const drawn = Array.from({ length: seeds }, (_, index) => firstSeed + index);
      const honouring: Traffic[] = [];
      for (const { client, begin } of honouringClients(waits)) {
        const traffic = await each(drawn, (seed) => watchClients(limits, seed, begin));
        rows.push([plan, client, ...cells(traffic)]);
        honouring.push(...traffic);
        progress(`${plan}, ${client}: done`);
      }
      figures.push(neverBanned(plan, honouring));
      const looping = await each(drawn.slice(0, loopRuns), (seed) => watchTightLoop(limits, seed));
      rows.push([plan, "tight loop", ...cells(looping), banTimes(looping)]);
      if (mustBanSoon) figures.push(bannedSoon(plan, looping));
      loops.push(...looping);
      progress(`${plan}, tight loop: done`);
    }
    print(`\n${table([["plan", "client", "runs", "requests", "refused", "banned", "after (median, most)"], ...rows])}`);
    return [
      ...figures,
      ...duringBans(loops),
      allOf("bans: admitted after waiting for Retry-After", waits.admitted, waits.all),
    ];
  },
};

function honouringClients(
  waits: Waits,
): readonly { readonly client: string; readonly begin: (world: World) => void }[] {
  return [
    { client: "bursts of 64", begin: (world) => burst(world, 64) },
    { client: "64 under way", begin: (world) => pool(world, 64) },
    { client: "fleet of 8, one key", begin: (world) => fleet(world, 8) },
    { client: "fleet of 20, one key", begin: (world) => fleet(world, 20) },
    {
      client: "one, sequential",
      begin: (world) =>
        patient(world, ({ outcome }) => {
          waits.all += 1;
          if (outcome === "admitted") waits.admitted += 1;
        }),
    },
  ];
}

function neverBanned(plan: string, traffic: readonly Traffic[]): Figure {
  const banned = traffic.filter(({ isBanned }) => isBanned).length;
  return {
    figure: `bans: runs of clients that honour Retry-After, ${plan}`,
    required: "0 % banned",
    measured: `${percent(banned / traffic.length)} of ${count(traffic.length)}`,
    isMet: banned === 0,
  };
}

function bannedSoon(plan: string, loops: readonly LoopTraffic[]): Figure {
  const soon = loops.filter(({ bannedAfterMs }) => bannedAfterMs <= banWithinMs);
  return {
    figure: `bans: tight loop that ignores 429, ${plan}`,
    required: `banned within ${banWithinMs / 1_000} s`,
    measured: `${soon.length} of ${loops.length}, ${banTimes(loops)}`,
    isMet: soon.length === loops.length,
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
      "bans: over when announced, although called on",
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

function banTimes(loops: readonly LoopTraffic[]): string {
  const sorted = loops.map(({ bannedAfterMs }) => bannedAfterMs / 1_000).sort((left, right) => left - right);
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
