import type { Benchmark } from "./benchmark.js";

const path = "/v1/pets?status=available";

/** Reading a page, which is most of what a store's clients do. */
export const restList: Benchmark = {
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
