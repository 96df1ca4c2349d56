import { expect, test } from "vitest";
import { helpText, readCommandLine } from "./command-line.js";
import { type Part, partNames } from "./part.js";

const parts: readonly Part[] = partNames.map((name) => ({
  name,
  summary: `the growth of ${name}`,
  run: () => Promise.reject(new Error("not in a test of the command line")),
}));

function read(line: string): unknown {
  return readCommandLine(line.split(" ").filter(Boolean), parts);
}

test("without a word every part is run, as large as it is meant to be", () => {
  expect(read("")).toEqual({
    kind: "run",
    parts,
    options: {
      rounds: 10,
      seconds: 2,
      connections: 32,
      page: 10_000,
      rows: 10_000_000,
      soakSeconds: 600,
      leakBytes: 0,
      idleConnections: 10_000,
      holdSeconds: 30,
    },
    jsonFile: undefined,
  });
});

test("--only chooses parts, in their own order", () => {
  expect(read("--only idle --only pages")).toMatchObject({ parts: [{ name: "pages" }, { name: "idle" }] });
});

test("every number can be said", () => {
  const line =
    "--rounds 1 --seconds 0.1 --connections 4 --page 10 --rows 2000 --soak-seconds 1 --leak 5000 --idle 50 --hold-seconds 1 --json out.json";
  expect(read(line)).toMatchObject({
    options: {
      rounds: 1,
      seconds: 0.1,
      connections: 4,
      page: 10,
      rows: 2_000,
      soakSeconds: 1,
      leakBytes: 5_000,
      idleConnections: 50,
      holdSeconds: 1,
    },
    jsonFile: "out.json",
  });
});

test("an unknown part is answered with the parts there are", () => {
  const reason = "There is no part pets. The parts are: pages, rows, soak, idle.";
  expect(read("--only pets")).toEqual({ kind: "unclear", reason });
});

test.each([
  "--rounds 0",
  "--rounds 1.5",
  "--seconds 0.01",
  "--seconds 1e2",
  "--connections many",
  "--page 1",
  "--rows 999",
  "--soak-seconds -1",
  "--leak",
  "--idle 25001",
  "--hold-seconds 61",
  "--quickly",
  "pages",
])("«%s» is not understood", (line) => {
  expect(read(line)).toMatchObject({ kind: "unclear" });
});

test("help names every part and every option", () => {
  expect(read("--only rows --help")).toEqual({ kind: "help" });
  for (const name of partNames) expect(helpText(parts)).toContain(`${name.padEnd(8)}the growth of ${name}`);
});
