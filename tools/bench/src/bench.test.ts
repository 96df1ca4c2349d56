import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runBench, type Surroundings } from "./bench.js";
import type { Comparable } from "./comparison.js";
import type { RunRecord } from "./run-record.js";

/** A benchmark whose servers cost what they are told to. */
function costing(name: string, ours: readonly number[], peer = 100): Comparable {
  return {
    name,
    summary: `the work of ${name}`,
    measures: { cpu: { label: "CPU us", digits: 0, better: "lower" } },
    words: { contestant: "server", callers: "connections" },
    rounds: ours.length,
    connections: [32],
    goals: [{ measure: "cpu", of: "ours", against: "theirs", atMost: 0.8 }],
    ratios: [{ measure: "cpu", of: "ours", against: "theirs" }],
    compare: async ({ connections }) =>
      connections.map((at) => ({
        connections: at,
        rounds: new Map([
          ["ours", ours.map((cpu) => ({ cpu }))],
          ["theirs", ours.map(() => ({ cpu: peer }))],
        ]),
      })),
  };
}

const broken: Comparable = {
  ...costing("broken", []),
  compare: () => Promise.reject(new Error("there is no database")),
};

interface Place extends AsyncDisposable {
  readonly directory: string;
  readonly printed: string;
  readonly complained: string;
  run(words: string, benchmarks: readonly Comparable[], changes?: Partial<Surroundings>): Promise<0 | 1 | 2>;
}

async function openPlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-bench-test-"));
  const said = { printed: "", complained: "" };
  return {
    directory,
    get printed() {
      return said.printed;
    },
    get complained() {
      return said.complained;
    },
    run(words, benchmarks, changes = {}) {
      said.printed = "";
      said.complained = "";
      return runBench(words.split(" ").filter(Boolean), benchmarks, {
        print: (text) => {
          said.printed += text;
        },
        complain: (text) => {
          said.complained += text;
        },
        signal: new AbortController().signal,
        resultsDirectory: join(directory, "results"),
        commit: async () => ({ name: "abc1234", dirty: false }),
        now: () => Date.parse("2026-11-21T12:00:00Z"),
        ...changes,
      });
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

test("a run of every benchmark ends with one table of all goals, and is good when each is met", async () => {
  await using place = await openPlace();
  expect(await place.run("", [costing("one", [60, 70, 80]), costing("other", [50])])).toBe(0);
  expect(place.printed).toMatch(
    /\nbenchmark .*\none at 32 .* 0\.700 \(0\.600\.\.0\.800\) +<= 0\.80 +met\nother at 32 .* met\n/,
  );
});

test("a missed goal is exit code 1", async () => {
  await using place = await openPlace();
  expect(await place.run("", [costing("one", [81])])).toBe(1);
  expect(place.printed).toMatch(/one at 32 .* MISSED\n/);
});

test("a benchmark that fails is a failed row and exit code 1, and the others are run", async () => {
  await using place = await openPlace();
  expect(await place.run("", [broken, costing("one", [60])])).toBe(1);
  expect(place.printed).toMatch(/\nbroken .* FAILED: there is no database\none at 32 .* met\n/);
});

test("a stopped run runs no further benchmark and keeps nothing", async () => {
  await using place = await openPlace();
  const stopped = new AbortController();
  const stopping: Comparable = {
    ...broken,
    compare: async () => {
      stopped.abort();
      throw new Error("the child was killed");
    },
  };
  const code = await place.run("", [stopping, costing("one", [60])], { signal: stopped.signal });
  expect(code).toBe(1);
  expect(place.printed).toBe("");
  expect(place.complained).toMatch(/Stopped\.\n$/);
  expect(await readdir(place.directory)).toEqual([]);
});

test("a run of every benchmark is kept under its day and commit, small, with the machine and each round's ratio", async () => {
  await using place = await openPlace();
  await place.run("", [costing("one", [60, 70, 80]), broken]);
  const file = join(place.directory, "results", "2026-11-21-abc1234.json");
  expect(place.printed).toContain(`Kept in ${file}\n`);
  const record: RunRecord = JSON.parse(await readFile(file, "utf8"));
  expect(record).toMatchObject({
    startedAt: "2026-11-21T12:00:00.000Z",
    commit: { name: "abc1234", dirty: false },
    machine: { cores: expect.any(Number), node: process.versions.node, processor: expect.any(String) },
  });
  expect(record.benchmarks).toEqual([
    {
      name: "one",
      tables: [
        {
          connections: 32,
          contestants: {
            ours: { cpu: { median: 70, min: 60, max: 80 } },
            theirs: { cpu: { median: 100, min: 100, max: 100 } },
          },
        },
      ],
      ratios: [
        { measure: "cpu", of: "ours", against: "theirs", median: 0.7, min: 0.6, max: 0.8, rounds: [0.6, 0.7, 0.8] },
      ],
      goals: [expect.objectContaining({ atMost: 0.8, met: true })],
    },
    { name: "broken", failure: "there is no database" },
  ]);
});

test("a benchmark at several numbers of callers keeps a table for each, and ratios and goals of the first", async () => {
  await using place = await openPlace();
  await place.run("", [{ ...costing("one", [60]), connections: [32, 1, 128] }]);
  expect(place.printed).toMatch(/connections: 32, [\s\S]*connections: 1, [\s\S]*connections: 128, /);
  expect(place.printed.match(/^one at /gm)).toHaveLength(1);
  const file = join(place.directory, "results", "2026-11-21-abc1234.json");
  const [record] = JSON.parse(await readFile(file, "utf8")).benchmarks;
  expect(record).toMatchObject({
    tables: [{ connections: 32 }, { connections: 1 }, { connections: 128 }],
    ratios: [{ median: 0.6 }],
    goals: [{ atMost: 0.8 }],
  });
});

test.each([
  { commit: { name: "abc1234", dirty: true }, name: "2026-11-21-abc1234-dirty.json" },
  { commit: undefined, name: "2026-11-21-no-commit.json" },
])("the result of $commit is $name", async ({ commit, name }) => {
  await using place = await openPlace();
  await place.run("", [costing("one", [60])], { commit: async () => commit });
  expect(await readdir(join(place.directory, "results"))).toEqual([name]);
});

test.each(["--rounds 1", "--seconds 1", "--connections 8"])("a run with %s is not kept, and says so", async (words) => {
  await using place = await openPlace();
  await place.run(words, [costing("one", [60])]);
  expect(place.printed).toContain("Not kept");
  expect(await readdir(place.directory)).toEqual([]);
});

test("a named run is not kept, but written with every round where it is asked to be", async () => {
  await using place = await openPlace();
  const file = join(place.directory, "out.json");
  await place.run(`--only one --json ${file}`, [costing("one", [60, 70])]);
  expect(await readdir(place.directory)).toEqual(["out.json"]);
  const record = JSON.parse(await readFile(file, "utf8"));
  expect(record.benchmarks[0].tables[0].rounds.ours).toEqual([{ cpu: 60 }, { cpu: 70 }]);
});

test("a run is compared with the newest other one that is kept, and a regression alone is no failure", async () => {
  await using place = await openPlace();
  const at = (day: number, name: string): Partial<Surroundings> => ({
    now: () => Date.parse(`2026-11-0${day}T12:00:00Z`),
    commit: async () => ({ name, dirty: false }),
  });
  await place.run("", [costing("one", [70, 71])], at(2, "aaaaaaa"));
  expect(place.printed).not.toContain("Beside");
  await place.run("", [costing("one", [20, 21])], at(1, "bbbbbbb"));
  expect(await place.run("", [costing("one", [75, 76])], at(3, "ccccccc"))).toBe(0);
  expect(place.printed).toMatch(/Beside .*2026-11-02-aaaaaaa\.json.*\n[\s\S]*\+7\.1 % +REGRESSION\n/);

  // The same again: its own earlier result is not another one.
  expect(await place.run("--fail-on-regression", [costing("one", [75, 76])], at(3, "ccccccc"))).toBe(1);
  expect(place.printed).toContain("2026-11-02-aaaaaaa.json");
});

test("--against compares a named run with any result that was written", async () => {
  await using place = await openPlace();
  const file = join(place.directory, "before.json");
  await place.run(`--only one --json ${file}`, [costing("one", [60])]);
  expect(await place.run(`--only one --against ${file}`, [costing("one", [60])])).toBe(0);
  expect(place.printed).toMatch(/ours \/ theirs +0\.600 .* 0\.600 .* \+0\.0 % +alike\n/);
});

test.each([{ text: "{}" }, { text: "no JSON" }])(
  "--against a file of «$text» fails before anything is run",
  async ({ text }) => {
    await using place = await openPlace();
    const file = join(place.directory, "other.json");
    await writeFile(file, text);
    expect(await place.run(`--only one --against ${file}`, [costing("one", [60])])).toBe(1);
    expect(place.printed).toBe("");
    expect(place.complained).toContain(`${file} is no result of a run`);
  },
);
