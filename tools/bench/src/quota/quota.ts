import { type Comparable, usual } from "../comparison.js";
import type { Goal } from "../goal.js";
import type { Ratio } from "../ratio.js";
import { compareQuotas } from "./compare-quotas.js";
import type { QuotaContestant } from "./quota-engine.js";
import { type QuotaMeasure, quotaMeasures } from "./quota-round.js";

const contestants: readonly QuotaContestant[] = [
  {
    name: "petstore-redis",
    main: new URL("./petstore-redis/main.js", import.meta.url),
    prefix: "petstore:quota:",
  },
  {
    name: "rlf-union",
    main: new URL("./rate-limiter-flexible/main.js", import.meta.url),
    prefix: "rlf:",
  },
  {
    name: "rlr-in-sequence",
    main: new URL("./rate-limit-redis/main.js", import.meta.url),
    prefix: "rlr:",
  },
  { name: "two-counters", main: new URL("./two-counters/main.js", import.meta.url), prefix: "two-counters:" },
  { name: "petstore-local", main: new URL("./petstore-local/main.js", import.meta.url) },
];

const fewerCallers = 32;

/**
 * Ours are to be 100,000 decisions per second where the prototype made 119,000. It was one script with both windows and
 * bans, 1.38 times as fast as rate-limiter-flexible's union, which stands for it on any machine.
 */
const ofPrototype = (1.38 * 100) / 119;

const goals: readonly Goal<QuotaMeasure>[] = [
  { measure: "decisionsPerSecond", of: "petstore-redis", against: "rlf-union", atLeast: 1.3 },
  { measure: "decisionsPerSecond", of: "petstore-redis", against: "rlr-in-sequence", atLeast: 1.2 },
  { measure: "cpuMicroseconds", of: "petstore-redis", against: "rlf-union", atMost: 1 },
  { measure: "cpuMicroseconds", of: "petstore-redis", against: "rlr-in-sequence", atMost: 1 },
  { measure: "bytesPerAccount", of: "petstore-redis", atMost: 250 },
  { measure: "decisionsPerSecond", of: "petstore-local", atLeast: 1_000_000 },
  {
    measure: "decisionsPerSecond",
    of: "petstore-redis",
    against: "rlf-union",
    atLeast: ofPrototype,
    connections: fewerCallers,
  },
  // Reached for: a decision of ours also reads the ban, counts nothing that it refuses, and tells when to come back.
  {
    measure: "decisionsPerSecond",
    of: "petstore-redis",
    against: "two-counters",
    atLeast: 0.84,
    connections: fewerCallers,
    uncounted: "moonshot",
  },
  { measure: "p99Ms", of: "petstore-redis", atMost: 1.5, connections: fewerCallers, uncounted: "information" },
];

/** A ratio may be the goal at two numbers of callers. */
function uniqueRatios(goals: readonly Goal<QuotaMeasure>[]): Ratio<QuotaMeasure>[] {
  const ratios = goals.flatMap(({ measure, of, against }) => (against === undefined ? [] : [{ measure, of, against }]));
  return [...new Map(ratios.map((ratio) => [`${ratio.measure} ${ratio.against}`, ratio])).values()];
}

/** What every request pays before any work: a decision about a minute and a day, all of them admitted. */
export const quota: Comparable = {
  name: "quota",
  summary: "decide a minute's and a day's quota of 10,000 accounts",
  measures: quotaMeasures,
  words: { contestant: "engine", callers: "callers" },
  rounds: usual.rounds,
  connections: [64, fewerCallers],
  goals,
  ratios: uniqueRatios(goals),
  compare: (options, deps) => compareQuotas(contestants, options, deps),
};
