import type { Benchmark } from "./benchmark.js";
import { compare } from "./compare.js";
import type { Comparable } from "./comparison.js";
import { measures } from "./round.js";

const path = "/v1/pets?status=available";

const benchmark: Benchmark = {
  name: "rest-list",
  summary: "list 20 of 10,000 animals by status",
  contestants: [
    {
      name: "petstore-rest",
      main: new URL("./main.js", import.meta.resolve("@petstore/rest")),
      request: (apiKey) => ({ path, headers: { authorization: `Bearer ${apiKey}` } }),
    },
    {
      name: "bare-express",
      main: new URL("./peers/express/main.js", import.meta.url),
      request: () => ({ path, headers: {} }),
    },
  ],
  isRight: (answer) => Array.isArray(answer) && answer.length === 20,
  goals: [{ measure: "cpuMicroseconds", of: "petstore-rest", against: "bare-express", atMost: 0.8 }],
};

/** Reading a page, which is most of what a store's clients do. */
export const restList: Comparable = {
  name: benchmark.name,
  summary: benchmark.summary,
  measures,
  words: { contestant: "server", callers: "connections" },
  compare: (options, deps) => compare(benchmark, options, deps),
};
