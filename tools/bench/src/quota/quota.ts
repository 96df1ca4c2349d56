import { type Comparable, usual } from "../comparison.js";
import type { Goal } from "../goal.js";
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
  { name: "petstore-local", main: new URL("./petstore-local/main.js", import.meta.url) },
];

/** A decision about a minute and a day, before all other work of a request. All requests are admitted. */
export const quota: Comparable = quotaBenchmark({
  name: "quota",
  summary: "decide about a minute and a day, for 10,000 accounts in turn",
  accounts: 10_000,
  goals: [
    { measure: "decisionsPerSecond", of: "petstore-redis", against: "rlf-union", atLeast: 1.3 },
    { measure: "bytesPerAccount", of: "petstore-redis", atMost: 250, uncounted: "information" },
    { measure: "decisionsPerSecond", of: "petstore-local", atLeast: 1_000_000, uncounted: "information" },
  ],
});

export const hotAccountQuota: Comparable = quotaBenchmark({
  name: "quota-hot-account",
  summary: "the same for one account",
  accounts: 1,
  goals: [{ measure: "decisionsPerSecond", of: "petstore-redis", against: "rlf-union", atLeast: 1.6 }],
});

interface QuotaBenchmark {
  readonly name: string;
  readonly summary: string;
  readonly accounts: number;
  readonly goals: readonly Goal<QuotaMeasure>[];
}

function quotaBenchmark({ name, summary, accounts, goals }: QuotaBenchmark): Comparable {
  return {
    name,
    summary,
    measures: quotaMeasures,
    words: { contestant: "engine", callers: "callers" },
    rounds: usual.rounds,
    connections: [64],
    goals,
    ratios: goals.flatMap(({ measure, of, against }) => (against === undefined ? [] : [{ measure, of, against }])),
    compare: (options, deps) => compareQuotas(contestants, accounts, options, deps),
  };
}
