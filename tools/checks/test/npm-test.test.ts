// The report of `npm test`, in a repository with two packages. A script takes the place of run.mjs, because the real tests take
// minutes.
import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory, repository } from "@petstore/harness/processes";
import { beforeAll, beforeEach, expect, it } from "vitest";

const { path: root } = await shared(openTemporaryDirectory());
const packages = ["packages/core", "tools/checks"] as const;

const passing = { numPassedTests: 2, numFailedTests: 0, numFailedTestSuites: 0, testResults: [] };
const failingIn = (path: string) => ({
  ...passing,
  numFailedTests: 1,
  numFailedTestSuites: 1,
  testResults: [
    {
      name: join(root, path),
      status: "failed",
      message: "",
      assertionResults: [
        { status: "passed", fullName: "starts", failureMessages: [] },
        { status: "failed", fullName: "answers in time", failureMessages: ["expected 3 to be 2"] },
      ],
    },
  ],
});
const failing = failingIn("tools/checks/faults/late.test.ts");
const unloaded = {
  ...passing,
  numPassedTests: 0,
  numFailedTestSuites: 1,
  testResults: [
    { name: join(root, "tools/checks/x.test.ts"), status: "failed", message: "no module", assertionResults: [] },
  ],
};

beforeAll(async () => {
  for (const folder of [".ci", "services", "tools/checks/.turbo", ...packages])
    await mkdir(join(root, folder), { recursive: true });
  await cp(new URL(".ci/test.mjs", repository), join(root, ".ci/test.mjs"));
});

/** An earlier run with a failed test. */
beforeEach(() =>
  Promise.all(packages.map((folder) => writeFile(join(root, folder, "test-results.json"), JSON.stringify(failing)))),
);

interface Run {
  /** The report of `packages/core`. */
  readonly coreResults?: object;
  /** What the run writes in `tools/checks`. */
  readonly results?: object;
  /** What turbo keeps of the output of `tools/checks`. */
  readonly log?: string;
  readonly exitCode: number;
}

/** Returns the exit code and the lines that follow the output of the tests. */
async function npmTest({ results, coreResults, log = "", exitCode }: Run, ...options: readonly string[]) {
  const files = {
    "packages/core/test-results.json": coreResults && JSON.stringify(coreResults),
    "tools/checks/test-results.json": results && JSON.stringify(results),
    "tools/checks/.turbo/turbo-test.log": log,
  };
  const writes = Object.entries(files)
    .filter(([, text]) => text)
    .map(([name, text]) => `writeFileSync("${name}", ${JSON.stringify(text)});\n`);
  const script = `import { writeFileSync } from "node:fs";
console.log("ran", ...process.argv.slice(2));
${writes.join("")}process.exitCode = ${exitCode};
`;
  await writeFile(join(root, "run.mjs"), script);
  const { status, stdout } = spawnSync(process.execPath, [join(root, ".ci/test.mjs"), ...options], {
    encoding: "utf8",
  });
  const [ran = "", ...report] = stdout.trimEnd().split("\n");
  return { status, ran, report: report.filter((line) => line !== "") };
}

it("ends with the failed tests and their messages, and fails", async () => {
  const title = "FAILED tools/checks/faults/late.test.ts: answers in time";
  expect(await npmTest({ results: failing, exitCode: 1 })).toMatchObject({
    status: 1,
    report: [title, "expected 3 to be 2", title, "2 passed, 1 failed"],
  });
});

it("names a file that cannot be loaded", async () => {
  const { status, report } = await npmTest({ results: unloaded, exitCode: 1 });
  expect({ status, report: report.slice(-2) }).toEqual({
    status: 1,
    report: ["FAILED tools/checks/x.test.ts", "0 passed, 1 failed"],
  });
});

it("does not count the results of an earlier run", async () => {
  expect(await npmTest({ results: passing, exitCode: 0 })).toMatchObject({ status: 0, report: ["2 passed, 0 failed"] });
});

it("fails if the run fails without a failed test, or runs no test", async () => {
  const crashed = await npmTest({ exitCode: 1 });
  expect(crashed).toMatchObject({ status: 1, report: [expect.stringContaining("turbo"), "0 passed, 1 failed"] });
  expect(await npmTest({ exitCode: 0 })).toMatchObject({ status: 1, report: ["0 passed, 0 failed"] });
});

it("shows the end of the output of a package that failed outside of its tests", async () => {
  const log = "Unhandled Errors\nError: late\n[ELIFECYCLE] Test failed.";
  const { report } = await npmTest({ results: passing, log, exitCode: 1 });
  expect(report).toEqual([
    "FAILED tools/checks/.turbo/turbo-test.log, which ends with",
    ...log.split("\n"),
    expect.stringContaining("turbo names the package"),
    "2 passed, 1 failed",
  ]);
});

it("shows that output even if a test of another package failed", async () => {
  const title = "FAILED packages/core/late.test.ts: answers in time";
  const coreResults = failingIn("packages/core/late.test.ts");
  const log = "Error: late\n[ELIFECYCLE] Test failed.";
  expect(await npmTest({ results: passing, coreResults, log, exitCode: 1 })).toMatchObject({
    report: [
      ...[title, "expected 3 to be 2", title],
      ...["FAILED tools/checks/.turbo/turbo-test.log, which ends with", ...log.split("\n"), "4 passed, 1 failed"],
    ],
  });
});

it("counts a failed step of .ci/run as a failure", async () => {
  expect(await npmTest({ results: passing, exitCode: 0 }, "--failed-steps=1")).toMatchObject({
    status: 1,
    report: ["2 passed, 1 failed"],
  });
});

it("passes options to turbo, and may then run no test", async () => {
  const { status, ran } = await npmTest({ exitCode: 0 }, "--filter=@petstore/client", "--failed-steps=0");
  expect({ status, ran }).toEqual({
    status: 0,
    ran: expect.stringMatching(/^ran turbo run test .* --filter=@petstore\/client$/),
  });
});

it("leaves the results of a run in progress alone in a dry run, which tests nothing", async () => {
  expect(await npmTest({ exitCode: 0 }, "--dry-run=json")).toEqual({
    status: 0,
    ran: "ran turbo run test --concurrency=3 --continue --dry-run=json",
    report: [],
  });
  for (const folder of packages) {
    expect(JSON.parse(await readFile(join(root, folder, "test-results.json"), "utf8"))).toEqual(failing);
  }
});
