import { expect, test } from "vitest";
import { helpText, type Named, readCommandLine } from "./command-line.js";

const one: Named = { name: "one", summary: "the work of one", connections: [32] };
const other: Named = { name: "other", summary: "the work of other", connections: [512, 32] };
const fixed: Named = { name: "fixed", summary: "the work of fixed" };

const nothingSaid = {
  all: false,
  rounds: undefined,
  seconds: 3,
  connections: undefined,
  jsonFile: undefined,
  profileDirectory: undefined,
  against: undefined,
  failOnRegression: false,
};

function read(line: string): unknown {
  return readCommandLine(line.split(" ").filter(Boolean), [one, other, fixed]);
}

test("nothing named runs every benchmark", () => {
  expect(read("")).toEqual({
    kind: "run",
    benchmarks: [one, other, fixed],
    options: { ...nothingSaid, all: true },
  });
});

test("--only alone runs that benchmark with the defaults", () => {
  expect(read("--only other")).toEqual({ kind: "run", benchmarks: [other], options: nothingSaid });
});

test("several names run those benchmarks, each once, in their own order", () => {
  expect(read("--only other --only one --only other")).toMatchObject({
    benchmarks: [one, other],
    options: { all: false },
  });
});

test("options may stand on either side of --only", () => {
  expect(
    read(
      "--rounds 2 --only one --seconds=0.5 --connections 8 --json out.json --profile profiles --against a --fail-on-regression",
    ),
  ).toEqual({
    kind: "run",
    benchmarks: [one],
    options: {
      all: false,
      rounds: 2,
      seconds: 0.5,
      connections: [8],
      jsonFile: "out.json",
      profileDirectory: "profiles",
      against: "a",
      failOnRegression: true,
    },
  });
});

test("several numbers of connections are each measured once", () => {
  expect(read("--only one --connections 1,32,128,32")).toMatchObject({ options: { connections: [1, 32, 128] } });
});

test.each(["--only another", "--only one --only another"])("«%s» is answered with the names there are", (line) => {
  expect(read(line)).toEqual({
    kind: "unclear",
    reason: "There is no benchmark another. There are: one, other, fixed.",
  });
});

test.each([
  "--rounds 0",
  "--seconds 0.05",
  "--connections many",
  "--connections 1,",
  "--connections 1,0",
  "--rounds -1",
  "--seconds",
  "--quickly",
])("«--only one %s» is not understood", (options) => {
  expect(read(`--only one ${options}`)).toMatchObject({ kind: "unclear", reason: expect.stringContaining("--") });
});

test.each([
  "--only fixed --connections 8",
  "--only one --only fixed --connections 8",
  "--only fixed --profile profiles",
])("«%s» is refused, as its numbers of connections are what it measures", (line) => {
  expect(read(line)).toEqual({ kind: "unclear", reason: "fixed takes neither --connections nor --profile." });
});

test("a run of every benchmark takes --connections, for those that take it", () => {
  expect(read("--connections 8")).toMatchObject({ kind: "run", options: { all: true, connections: [8] } });
});

test.each(["--profile profiles", "--only one --only other --profile profiles"])(
  "«%s» is refused, as the profiles of one benchmark would take the place of another's",
  (line) => {
    expect(read(line)).toEqual({ kind: "unclear", reason: "--profile needs one benchmark, named by --only." });
  },
);

test("help says of unusual numbers of connections once which benchmarks have them", () => {
  const further: Named = { ...other, name: "further" };
  expect(helpText([one, other, further])).toMatch(/but\s+512,32 for other, further\)/);
});

test("help is given with or without a benchmark, names them all, and says how long all of them take", () => {
  expect(read("--help")).toEqual({ kind: "help" });
  expect(read("--only one -h")).toEqual({ kind: "help" });
  const text = helpText([one, other, fixed]);
  expect(text).toMatch(/one +the work of one\n +other +the work of other\n +fixed +the work of fixed/);
  expect(text).toMatch(/\(default 32, but\s+512,32 for other\)/);
  expect(text).toMatch(/take about \d+ minutes/);
});
