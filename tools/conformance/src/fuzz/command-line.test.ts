import { expect, it } from "vitest";
import { defaultRequests, helpText, readCommandLine } from "./command-line.js";

it("sends 100,000 requests to each API by default", () => {
  expect(defaultRequests).toBe(100_000);
  expect(readCommandLine([])).toMatchObject({ kind: "run", requests: 100_000, apis: ["rest", "graphql"] });
});

it("reads how many requests, which seed, which API, how long, and a file", () => {
  const words = ["--requests", "5", "--seed", "7", "--only", "graphql", "--seconds", "60", "--json", "a.json"];
  expect(readCommandLine(words)).toEqual({
    kind: "run",
    requests: 5,
    seed: 7,
    apis: ["graphql"],
    maxSeconds: 60,
    replay: undefined,
    jsonFile: "a.json",
  });
});

it("reads a case as a report names it", () => {
  expect(readCommandLine(["--replay", "twins/12/58:0:3"])).toMatchObject({
    replay: { kind: "twins", seed: 12, path: "58:0:3" },
  });
});

it.each([
  ["--requests", "0"],
  ["--requests", "1e6"],
  ["--seed", "-1"],
  ["--only", "soap"],
  ["--replay", "twins"],
  ["--fast"],
])("does not understand %s %s", (...words) => {
  expect(readCommandLine(words)).toMatchObject({ kind: "unclear" });
});

it("--help names every option", () => {
  expect(readCommandLine(["--help"])).toEqual({ kind: "help" });
  for (const option of ["--requests", "--seconds", "--seed", "--only", "--replay", "--json"]) {
    expect(helpText).toContain(option);
  }
});
