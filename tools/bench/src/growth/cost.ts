import type { LoadGenerator, LoadOrder } from "../load-generator.js";
import type { Server } from "../server.js";
import { spread } from "../statistics.js";
import { inTurn } from "../turns.js";
import type { BackendClock } from "./backend-clock.js";
import type { GrowthOptions } from "./part.js";

/** One request, asked of one service, over and over. */
export interface Case {
  readonly name: string;
  readonly server: Server;
  readonly backends: BackendClock;
  readonly order: LoadOrder;
}

/** What one round of it cost. */
export interface Cost {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly serviceMicroseconds: number;
  readonly postgresMicroseconds: number;
  /** Both together. */
  readonly microseconds: number;
}

export type Costs = ReadonlyMap<string, readonly Cost[]>;

/**
 * Measures all cases in turn, round after round, and a warm-up before. Every other round runs backwards, so that none has
 * always the same one before it.
 */
export async function measureCosts(
  cases: readonly Case[],
  generator: LoadGenerator,
  { rounds }: Pick<GrowthOptions, "rounds">,
  progress: (line: string) => void,
): Promise<Costs> {
  const costs = new Map<string, Cost[]>(cases.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const one of inTurn(cases, round)) {
      const cost = await measureCost(one, generator);
      if (round > 0) costs.get(one.name)?.push(cost);
    }
    progress(round === 0 ? "warmed up" : `round ${round} of ${rounds} done`);
  }
  return costs;
}

async function measureCost({ name, server, backends, order }: Case, generator: LoadGenerator): Promise<Cost> {
  const [before, postgresBefore] = [await server.usage(), await backends.cpuMicroseconds()];
  const load = await generator.run(order);
  const [after, postgresAfter] = [await server.usage(), await backends.cpuMicroseconds()];
  if (load.failure !== undefined) throw new Error(`${name} was not answered every time: ${load.failure}`);
  const serviceMicroseconds = (after.cpuMicroseconds - before.cpuMicroseconds) / load.requests;
  const postgresMicroseconds = (postgresAfter - postgresBefore) / load.requests;
  return {
    requestsPerSecond: load.requestsPerSecond,
    p50Ms: load.p50Ms,
    serviceMicroseconds,
    postgresMicroseconds,
    microseconds: serviceMicroseconds + postgresMicroseconds,
  };
}

/** Within each round, so that what slows a whole round down cancels out. */
export function ratios(costs: Costs, of: string, against: string, measure: keyof Cost): number[] {
  const theirs = costs.get(against) ?? [];
  return (costs.get(of) ?? []).map((cost, round) => cost[measure] / (theirs[round]?.[measure] ?? Number.NaN));
}

export function costRows(costs: Costs): string[][] {
  const heading = ["case", "requests/s", "p50 ms", "service CPU us", "PostgreSQL CPU us", "together us"];
  return [
    heading,
    ...[...costs].map(([name, rounds]) => [
      name,
      cell(rounds, "requestsPerSecond", 0),
      cell(rounds, "p50Ms", 2),
      cell(rounds, "serviceMicroseconds", 1),
      cell(rounds, "postgresMicroseconds", 1),
      cell(rounds, "microseconds", 1),
    ]),
  ];
}

function cell(rounds: readonly Cost[], measure: keyof Cost, digits: number): string {
  const { median, min, max } = spread(rounds.map((cost) => cost[measure]));
  return `${median.toFixed(digits)} (${min.toFixed(digits)}..${max.toFixed(digits)})`;
}
