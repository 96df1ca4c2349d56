import { expect, test } from "vitest";
import type { Benchmark } from "./benchmark.js";
import { helpText, readCommandLine } from "./command-line.js";

const all = [
  benchmark("rest-list", [32, 1]),
  benchmark("rest-mixed", [512]),
  benchmark("quota", [64]),
  benchmark("quota-hot", [64]),
  { ...benchmark("memory", [512]), isFixed: true },
];
test("runs every benchmark by default", () => {
  expect(read("")).toMatchObject({ kind: "run", benchmarks: all, options: { isComplete: true } });
});

test.each([
  ["--only memory", ["memory"]],
  ["--only rest", ["rest-list", "rest-mixed"]],
  ["--only memory --only rest-mixed --only memory", ["rest-mixed", "memory"]],
  ["--only quota", ["quota"]],
])("%s runs each named benchmark once", (line, names) => {
  expect(read(line)).toMatchObject({ benchmarks: names.map((name) => ({ name })), options: { isComplete: false } });
});

test("reads every option", () => {
  const line = "--rounds 2 --only rest-list --seconds=0.5 --connections 8,1,8 --json out.json --profile profiles";
  expect(read(line)).toMatchObject({
    benchmarks: [{ name: "rest-list" }],
    options: { rounds: 2, seconds: 0.5, connections: [8, 1], jsonFile: "out.json", profileDirectory: "profiles" },
  });
});

test.each([
  ["--only nothing", "There is no benchmark nothing. There are: rest-list, rest-mixed, quota, quota-hot, memory."],
  ["--only res", "There is no benchmark res."],
  ["--only memory --connections 8", "memory takes neither --connections nor --profile."],
  ["--only rest --profile profiles", "--profile needs one benchmark"],
  ["--rounds 0", "--rounds must be a whole number"],
  ["--seconds 0.05", "--seconds must be a number"],
  ["--connections 1,", "--connections must be a whole number"],
  ["--quickly", "--quickly"],
])("refuses %s", (line, reason) => {
  expect(read(line)).toEqual({ kind: "unclear", reason: expect.stringContaining(reason) });
});

test("help names every benchmark and its defaults", () => {
  expect(read("--only rest-list -h")).toEqual({ kind: "help" });
  expect(helpText(all)).toMatch(/^ {2}rest-list +about rest-list \[at 32, 1\]\n {2}rest-mixed +about rest-mixed/m);
});

function read(line: string) {
  return readCommandLine(line.split(" ").filter(Boolean), all);
}

function benchmark(name: string, connections: readonly [number, ...number[]]): Benchmark {
  const run = () => Promise.reject(new Error("not in this test"));
  const defaults = { rounds: 7, seconds: 3, connections };
  return { name, summary: `about ${name}`, measures: {}, targets: [], defaults, run };
}
