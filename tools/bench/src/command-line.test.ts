import { expect, test } from "vitest";
import type { Benchmark } from "./benchmark.js";
import { helpText, readCommandLine } from "./command-line.js";

const [one, other] = ["one", "other"].map(
  (name): Benchmark => ({
    name,
    summary: `the work of ${name}`,
    contestants: [{ name: "server", main: new URL("file:///server.js"), request: () => ({ path: "/", headers: {} }) }],
    isRight: () => true,
    goals: [],
  }),
) as [Benchmark, Benchmark];

function read(line: string): unknown {
  return readCommandLine(line.split(" ").filter(Boolean), [one, other]);
}

test("a name alone runs that benchmark with the defaults", () => {
  expect(read("other")).toEqual({
    kind: "run",
    benchmark: other,
    options: { rounds: 10, seconds: 3, connections: 32, jsonFile: undefined, profileDirectory: undefined },
  });
});

test("options may stand on either side of the name", () => {
  expect(read("--rounds 2 one --seconds=1 --connections 8 --json out.json --profile profiles")).toEqual({
    kind: "run",
    benchmark: one,
    options: { rounds: 2, seconds: 1, connections: 8, jsonFile: "out.json", profileDirectory: "profiles" },
  });
});

test.each(["", "another", "one other"])("«%s» is answered with the names there are", (line) => {
  expect(read(line)).toEqual({ kind: "unclear", reason: "Name one benchmark: one, other." });
});

test.each(["--rounds 0", "--seconds 1.5", "--connections many", "--rounds -1", "--seconds", "--quickly"])(
  "«one %s» is not understood",
  (options) => {
    expect(read(`one ${options}`)).toMatchObject({ kind: "unclear", reason: expect.stringContaining("--") });
  },
);

test("help is given with or without a benchmark, and names them all", () => {
  expect(read("--help")).toEqual({ kind: "help" });
  expect(read("one -h")).toEqual({ kind: "help" });
  expect(helpText([one, other])).toMatch(/one +the work of one\n +other +the work of other/);
});
