import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { describe, expect, it, test } from "vitest";
import { benchmarks } from "../src/benchmarks.js";
import { capacityOf } from "../src/capacity/capacity.js";
import { runCapacity } from "../src/capacity/command.js";
import { type Measurements, readNewestMeasurements } from "../src/capacity/measurements.js";

const results = fileURLToPath(new URL("../results/", import.meta.url));
const guide = new URL("../../deploy/operations.md", import.meta.url);

const measured: Measurements = {
  file: "run.json",
  commit: "abcdef0",
  machine: "a machine",
  cpuMicroseconds: { rest: 140, graphql: 280 },
  statementsPerList: { rest: 0.2, graphql: 0.4 },
  memoryMebibytes: { rest: 128, graphql: 256 },
  decisionsPerSecond: 50_000,
};

/** As `npm run bench` writes it. Each figure is the median of three rounds. */
function resultOf(startedAt: string, commit: string) {
  const around = (value: number) => [value / 2, value, value * 3];
  const roundsOf = (measure: string, values: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries(values).map(([of, value]) => [of, around(value).map((each) => ({ [measure]: each }))]),
    );
  const ofBoth = (measure: string, { rest, graphql }: { readonly rest: number; readonly graphql: number }) =>
    roundsOf(measure, { "petstore-rest": rest, "petstore-graphql": graphql });
  const cpu = ofBoth("CPU us/request", measured.cpuMicroseconds);
  return [
    { startedAt, commit, machine: measured.machine },
    { name: "rest-browse at 32", figures: [], rounds: cpu },
    { name: "graphql-browse at 32", figures: [], rounds: cpu },
    { name: "statements", rounds: ofBoth("SQL statements/list", measured.statementsPerList) },
    { name: "memory", rounds: ofBoth("highest RSS MiB at 512 connections", measured.memoryMebibytes) },
    { name: "quota at 64", rounds: roundsOf("decisions/s", { "petstore-redis": measured.decisionsPerSecond }) },
  ];
}

describe("capacity", () => {
  it("adds up what a load needs", () => {
    const { sums, walls } = capacityOf(measured, { requestsPerSecond: 100_000, activeKeys: 10_000 });
    expect(Object.fromEntries(sums.map(({ what, value }) => [what, Math.round(value)]))).toEqual({
      // 50,000 requests x 140 us are 7 cores, of which 70 % are used.
      "REST instances": 10,
      "GraphQL instances": 20,
      // 10 x 128 MiB + 20 x 256 MiB = 6.25 GiB.
      "memory of all instances, GiB": 6,
      // A pool of 20 and 2 more for each.
      "connections to PostgreSQL": 660,
      // 10,000 keys on 2 instances, each with a request every 0.2 s: after 4 s and this pause.
      "look-ups of keys per second": Math.round(20_000 / 4.2),
      // On 30 instances, each with a request every 3 s.
      "the same, if every instance serves every key": Math.round(300_000 / 7),
      // 10,000 creates, 90,000 lists x 0.3, and the look-ups.
      "SQL statements per second": Math.round(10_000 + 27_000 + 20_000 / 4.2),
      "cores of PostgreSQL": Math.round((37_000 + 20_000 / 4.2) / 10_000 / 0.7),
      // 35,000 decisions a second on each.
      "Redis shards": 3,
      "rows of idempotency keys, for 24 h": 864_000_000,
    });
    expect(walls.map(({ what }) => what)).toEqual([
      expect.stringContaining("max_connections 100"),
      expect.stringContaining("one Redis"),
      expect.stringContaining("haproxy.containers.cfg"),
      expect.stringContaining("faster than old ones are deleted"),
      expect.stringContaining("32 cores"),
    ]);
    expect(walls[1]?.atRequestsPerSecond).toBe(35_001);
    // 20 GraphQL instances at 100,000 requests a second, so 10 up to half of that.
    expect(walls[2]?.atRequestsPerSecond).toBe(50_001);
    // A tenth are creates, and 17,500 rows are deleted per second.
    expect(walls[3]?.atRequestsPerSecond).toBe(175_001);
  });

  it("says what the first request needs, and a load that passes every wall", () => {
    for (const requestsPerSecond of [1, 999_999_999]) {
      const { sums } = capacityOf(measured, { requestsPerSecond, activeKeys: 1 });
      for (const { what, value } of sums) expect(value, what).toBeGreaterThan(0);
      const lookUps = sums.find(({ what }) => what === "look-ups of keys per second")?.value;
      expect(lookUps).toBeLessThan(requestsPerSecond);
    }
  });

  it("computes from the newest result, names it, and prints what it assumes", async () => {
    await using directory = await openTemporaryDirectory();
    const write = (name: string, result: unknown) => writeFile(join(directory.path, name), JSON.stringify(result));
    await write("2026-01-02-older00.json", resultOf("2026-01-02T10:00:00.000Z", "older00"));
    await write("2026-01-02-abcdef0.json", resultOf("2026-01-02T11:00:00.000Z", measured.commit));
    expect(await readNewestMeasurements(directory.path)).toEqual({ ...measured, file: "2026-01-02-abcdef0.json" });

    const { exitCode, text } = await runCapacity(["--requests-per-second", "100000"], directory.path);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/^100,000 requests per second need about:$/m);
    expect(text).toMatch(/^ +10 {2}REST instances +50 % of the requests, 140 us of CPU each/m);
    expect(text).toMatch(/^First wall: at [\d,]+ requests per second, PostgreSQL has no connection left/m);
    expect(text.match(/^passed /gm)).toHaveLength(3);
    expect(text).toMatch(/in 2026-01-02-abcdef0\.json \(commit abcdef0,/);
    for (const assumption of ["Assumed: ", "keys in use: 10,000", "good to a factor of two"]) {
      expect(text).toContain(assumption);
    }
    const older = ["--requests-per-second", "1", "--results", join(directory.path, "2026-01-02-older00.json")];
    expect((await runCapacity(older, directory.path)).text).toContain("commit older00");
  });

  it.each([
    [[], "--requests-per-second is missing"],
    ...["", "0", "-1", "1.5", "1e6", "1,000", "1000000000", "many"].map(
      (text) => [[`--requests-per-second=${text}`], `--requests-per-second cannot be "${text}"`] as const,
    ),
    [["--requests-per-second=1", "--keys=0"], '--keys cannot be "0"'],
    [["--requests-per-second=1", "--speed=1"], "Unknown option '--speed'"],
    [["1000"], "Unexpected argument '1000'"],
  ] as const)("answers %j with exit code 2 and the reason", async (args, reason) => {
    const { exitCode, text } = await runCapacity(args, results);
    expect(exitCode).toBe(2);
    expect(text).toContain(reason);
    expect(text).toContain("--help");
  });

  it("answers a missing or unusable result with exit code 1 and one line", async () => {
    await using directory = await openTemporaryDirectory();
    const run = (...args: string[]) => runCapacity(["--requests-per-second", "1", ...args], directory.path);
    expect(await run()).toEqual({
      exitCode: 1,
      text: expect.stringMatching(/^.* has no results: run npm run bench.*$/),
    });
    const file = join(directory.path, "run.json");
    expect(await run("--results", file)).toEqual({ exitCode: 1, text: `${file} cannot be read.` });
    for (const content of ["{", "[]", '{"rounds":{}}']) {
      await writeFile(file, content);
      expect(await run("--results", file)).toEqual({
        exitCode: 1,
        text: expect.stringMatching(/^.*run\.json is no .*$/),
      });
    }
    const [header, ...rest] = resultOf("2026-01-02T10:00:00.000Z", "abcdef0");
    await writeFile(file, JSON.stringify([header, ...rest.slice(1)]));
    const lacking = /^run\.json has no "CPU us\/request" of petstore-rest in "rest-browse at 32": run npm run bench.*$/;
    expect(await run()).toEqual({ exitCode: 1, text: expect.stringMatching(lacking) });
  });

  it("explains itself", async () => {
    for (const option of ["--help", "-h"]) {
      const { exitCode, text } = await runCapacity([option], results);
      expect(exitCode).toBe(0);
      expect(text).toMatch(/^Usage: npm run capacity -- --requests-per-second <number>/);
    }
  });
});

test("the benchmarks measure the figures from which the capacity is computed", () => {
  const titles = benchmarks.flatMap(({ name, connections = [] }) => [
    name,
    ...connections.map((each) => `${name} at ${each}`),
  ]);
  expect(titles).toEqual(
    expect.arrayContaining(["rest-browse at 32", "graphql-browse at 32", "statements", "memory", "quota at 64"]),
  );
});

// The guide states rounded sums. A new result changes them a little, and must not make the guide wrong.
test("the sums in the operations guide are within a factor of two of those of the latest result", async () => {
  const latest = await readNewestMeasurements(results);
  const text = await readFile(guide, "utf8");
  const [, table = ""] = text.split("<!-- capacity -->\n");
  const rows = (table.split("\n\n")[0] ?? "").split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const [[, , ...loads] = [], , ...lines] = rows;
  const stated = new Map(
    lines.map(([, what = "", ...cells]) => [what, cells.map((cell) => Number(cell.replaceAll(",", "")))]),
  );
  const numbers = loads.filter((load) => load !== "").map((load) => Number(load.replaceAll(",", "")));
  expect(numbers).toEqual([1_000, 100_000, 1_000_000]);
  const [, wall = ""] =
    /the first limit is `max_connections` of PostgreSQL, at about ([\d,]+) requests/.exec(text) ?? [];
  for (const [column, requestsPerSecond] of numbers.entries()) {
    const { sums, walls } = capacityOf(latest, { requestsPerSecond, activeKeys: 10_000 });
    expect(sums.map(({ what }) => what)).toEqual([...stated.keys()]);
    expect(walls[0]?.what).toContain("max_connections");
    expect((walls[0]?.atRequestsPerSecond ?? Number.NaN) / Number(wall.replaceAll(",", ""))).toBeCloseTo(1, 0);
    for (const { what, value } of sums) {
      const ratio = value / (stated.get(what)?.[column] ?? Number.NaN);
      expect(ratio, `${what} at ${requestsPerSecond}: ${value}`).toBeGreaterThanOrEqual(0.5);
      expect(ratio, `${what} at ${requestsPerSecond}: ${value}`).toBeLessThanOrEqual(2);
    }
  }
});
