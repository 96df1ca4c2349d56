// The tests of `npm run bench`: one for each benchmark and number of connections.
import { it } from "@petstore/harness/test-with-figures";
import { inject } from "vitest";
import type {} from "../src/bench-reporter.js";
import { benchmarks } from "../src/benchmarks.js";
import { describeMachine, formatRange, formatRounds, spreadOf } from "../src/report.js";
import { progress } from "../src/rounds.js";

const given = inject("projectOptions") ?? {};

for (const benchmark of benchmarks) {
  const { name, summary, targets } = benchmark;
  for (const connections of benchmark.connections ?? [undefined]) {
    const title = connections === undefined ? name : `${name} at ${connections}`;

    it(title, { tags: ["redis-server"] }, async ({ figures, task }) => {
      const [count, seconds] = [Number(given.rounds ?? benchmark.rounds ?? 6), Number(given.seconds)];
      const rounds = await benchmark.run({ rounds: count, seconds, connections: connections ?? 1 });
      task.meta.rounds = rounds;
      progress(`\n${title}: ${summary}; rounds: ${count}, of ${seconds} s; ${describeMachine()}\n`);
      progress(`${formatRounds(rounds)}\n`);
      for (const target of targets.filter((each) => each.connections === connections)) {
        const { measure, of, against, atMost, atLeast } = target;
        const spread = spreadOf(target, rounds);
        const what = `${measure}, ${against === undefined ? of : `${of} / ${against}`}`;
        if (atMost !== undefined) figures.atMost(atMost, what, spread.median, formatRange(spread));
        if (atLeast !== undefined) figures.atLeast(atLeast, what, spread.median, formatRange(spread));
      }
    });
  }
}
