import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/growth/main.js", import.meta.url));
const quick = ["--rounds", "1", "--seconds", "0.1", "--connections", "4"];

interface Run {
  readonly exitCode: number;
  readonly printed: string;
  readonly complained: string;
}

function growth(...words: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = start(words, (printed, complained) => {
      resolve({ exitCode: child.exitCode ?? -1, printed, complained });
    });
  });
}

function start(words: readonly string[], end: (printed: string, complained: string) => void = () => {}): ChildProcess {
  return execFile(process.execPath, [main, ...words], (_error, printed, complained) => end(printed, complained));
}

/** Met or missed, on a machine that runs other tests as well, is no matter where time is measured. */
function expectJudged({ exitCode, printed }: Run): void {
  expect(printed).toMatch(/^part +what +measured +goal +verdict$/m);
  expect(printed).not.toContain("FAILED");
  expect(exitCode).toBe(printed.includes("MISSED") ? 1 : 0);
}

describeWithRedis("growth", () => {
  test("pages compares a far page with the first, filtered or not, through both APIs", async () => {
    const directory = await mkdtemp(join(tmpdir(), "petstore-growth-test-"));
    const file = join(directory, "report.json");
    const run = await growth("--only", "pages", "--page", "10", "--json", file, ...quick);
    const report = JSON.parse(await readFile(file, "utf8"));
    await rm(directory, { recursive: true });

    expectJudged(run);
    for (const api of ["rest", "graphql"]) {
      expect(run.complained).toMatch(new RegExp(`^${api}, available, page 10 +\\d`, "m"));
      expect(run.printed).toMatch(new RegExp(`^pages +${api}, all, page 10 / page 1, CPU +\\d.*at most 1\\.10`, "m"));
    }
    expect(report).toMatchObject({ options: { page: 10 }, parts: [{ part: "pages" }] });
    expect(report.parts[0].outcomes).toHaveLength(8);
  });

  test("rows compares tables, and finds the index in the plans of both APIs", async () => {
    const run = await growth("--only", "rows", "--rows", "2000", ...quick);
    expectJudged(run);
    expect(run.printed).toMatch(/^rows +graphql, list of rare, 2,000 \/ 1,000, CPU +\d.*at most 1\.20/m);
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      expect(run.printed).toMatch(new RegExp(`^rows +plans of the lists by status, ${mode} +24 times .* met$`, "m"));
    }
  });

  test("soak measures a planted leak", async () => {
    const leakBytes = 20_000;
    const run = await growth("--only", "soak", "--soak-seconds", "6", "--leak", `${leakBytes}`, ...quick);
    expectJudged(run);
    for (const api of ["rest", "graphql"]) {
      const slope = new RegExp(
        `^soak +${api}, slope of the live heap .* (-?[\\d.]+) \\+- [\\d.]+ KiB per 100,000`,
        "m",
      );
      const measuredBytes = (Number(slope.exec(run.printed)?.[1]) * 1_024) / 100_000;
      // On a busy machine, a few requests are all that 6 s have, and the slope is rough.
      expect(measuredBytes).toBeGreaterThan(leakBytes / 4);
      expect(measuredBytes).toBeLessThan(leakBytes * 4);
      expect(run.printed).toMatch(new RegExp(`^soak +${api}, unexpected answers +none +none +met$`, "m"));
    }
  });

  test("idle holds its connections open, without an error", async () => {
    const run = await growth("--only", "idle", "--idle", "50", "--hold-seconds", "1", ...quick);
    expectJudged(run);
    for (const api of ["rest", "graphql"]) {
      expect(run.printed).toMatch(new RegExp(`^idle +${api}, idle connections open at the end +50 +50 +met$`, "m"));
      expect(run.printed).toMatch(new RegExp(`^idle +${api}, errors of idle connections +0 +0 +met$`, "m"));
    }
  });

  test("Ctrl-C stops it, with exit code 1", async () => {
    let complained = "";
    const child = start(["--only", "soak"], (_printed, all) => {
      complained = all;
    });
    child.stderr?.on("data", (text: string) => {
      if (text.includes("after filling")) child.kill("SIGINT");
    });
    await once(child, "close");
    expect({ exitCode: child.exitCode, complained }).toEqual({
      exitCode: 1,
      complained: expect.stringMatching(/Stopped\.\n$/),
    });
  });
});

test("help is printed, and an unknown part answered with exit code 2", async () => {
  expect(await growth("--help")).toMatchObject({
    exitCode: 0,
    printed: expect.stringContaining("Usage: npm run growth"),
  });
  expect(await growth("--only", "cats")).toMatchObject({ exitCode: 2, printed: "" });
});
