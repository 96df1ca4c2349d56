import { expect, it } from "vitest";
import { readCommandLine } from "./command-line.js";
import { projects } from "./projects.js";

it("translates arguments into a test run", () => {
  const line = "fuzz --only rest --only graphql --name a.b --name (c) --json out.json --seed 7";
  expect(readCommandLine(projects, line.split(" "))).toEqual({
    kind: "run",
    name: "fuzz",
    project: projects.fuzz,
    files: ["rest", "graphql"],
    namePattern: "a\\.b|\\(c\\)",
    jsonFile: "out.json",
    options: { requests: "100000", seed: "7" },
  });
});

it("chooses tests by both options in a project with one file", () => {
  const one = { about: "", programs: [], hasOneFile: true } as const;
  expect(readCommandLine({ one }, "one --only rest --name quota".split(" "))).toMatchObject({
    files: [],
    namePattern: "rest|quota",
  });
});

it.each([
  ["nothing", /There is no project "nothing"\. The projects are faults, .*fuzz/],
  ["faults --quickly", /--quickly/],
  ["faults redis", /redis/],
  ["fuzz --requests 1e6", /--requests cannot be "1e6"/],
  ["faults --seed 7", /--seed/],
])("refuses the arguments %j with a reason", (line, reason) => {
  expect(readCommandLine(projects, line.split(" "))).toEqual({ kind: "wrong", reason: expect.stringMatching(reason) });
});
