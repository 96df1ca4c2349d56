import { expect, it } from "vitest";
import { helpText, readCommandLine } from "./command-line.js";
import type { Scenario } from "./scenario.js";

const [killed, stopped, hung] = [
  ["redis", "killed"],
  ["redis", "stopped"],
  ["postgres", "hung"],
].map(
  ([group = "", name = ""]): Scenario => ({ group, name, cause: `${name} it`, expected: "", run: async () => [] }),
) as [Scenario, Scenario, Scenario];

function read(line: string): unknown {
  return readCommandLine(line.split(" ").filter(Boolean), [killed, stopped, hung]);
}

it.each([
  ["", [killed, stopped, hung]],
  ["--only redis", [killed, stopped]],
  ["--only hung --only killed", [killed, hung]],
  ["--only redis --only hung", [killed, stopped, hung]],
])("«%s» runs the rows it names", (line, scenarios) => {
  expect(read(line)).toEqual({ kind: "run", scenarios, options: { stopSeconds: 30 }, jsonFile: undefined });
});

it("takes how long a process is stopped, and where to write", () => {
  expect(read("--stop-seconds 2 --json out.json")).toMatchObject({ options: { stopSeconds: 2 }, jsonFile: "out.json" });
});

it.each(["--only mysql", "--only killed --only mysql"])("«%s» is answered with the names", (line) => {
  expect(read(line)).toEqual({
    kind: "unclear",
    reason: "There is no row mysql. The groups are: redis, postgres; the rows: killed, stopped, hung.",
  });
});

it.each(["--stop-seconds 0", "--stop-seconds soon", "--quickly", "killed"])("«%s» is not understood", (line) => {
  expect(read(line)).toMatchObject({ kind: "unclear" });
});

it("help names every row", () => {
  expect(read("--help")).toEqual({ kind: "help" });
  expect(helpText([killed, hung])).toMatch(/redis +killed +killed it\n +postgres +hung +hung it/);
});
