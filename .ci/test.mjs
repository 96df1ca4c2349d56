// What `npm test` runs: the tests of every package and, after their output, the failed tests and how many tests ran. Options
// go to `turbo run`, such as --filter=@petstore/client, except --failed-steps=N: the failed steps of `.ci/run` before the tests.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
/** In the folder of a package. */
const turboLog = ".turbo/turbo-test.log";
const [, , ...options] = process.argv;
const turboOptions = options.filter((option) => !option.startsWith("--failed-steps="));
const failedSteps = Number(options.find((option) => !turboOptions.includes(option))?.split("=")[1] ?? 0);

// A dry run tests nothing. It must not touch the results of a run in progress.
const isDryRun = turboOptions.some((option) => /^--(dry|dry-run|graph)(=|$)/.test(option));
process.exitCode = isDryRun ? await runTurbo() : await runTests();

/** Returns the exit code. */
async function runTests() {
  // The results of earlier runs must not count: vitest may end before it writes new ones. turbo restores the results of a package
  // that it has in its cache.
  for (const file of [...resultFiles(), ...filesOfPackages(turboLog)]) rmSync(file);
  const exitCode = await runTurbo();

  let passed = 0;
  let failed = 0;
  const failures = [];
  for (const file of resultFiles()) {
    const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(readFileSync(file, "utf8"));
    passed += numPassedTests;
    // A file that cannot be loaded has no tests to fail.
    failed += numFailedTests || numFailedTestSuites;
    for (const { name, status, message, assertionResults } of testResults) {
      const path = relative(root, name);
      const tests = assertionResults.filter((test) => test.status === "failed");
      if (status === "failed" && tests.length === 0) failures.push({ title: path, text: message });
      for (const test of tests)
        failures.push({ title: `${path}: ${test.fullName}`, text: test.failureMessages.join("\n") });
    }
  }
  // The messages once more, because other packages have printed thousands of lines after them. Then the titles alone.
  for (const { title, text } of failures) print(`\nFAILED ${title}\n${text}`);
  print("");
  for (const { title } of failures) print(`FAILED ${title}`);
  if (exitCode !== 0) {
    for (const { path, end } of failedLogs(failures)) print(`FAILED ${path}, which ends with\n${end}\n`);
    if (failed === 0) print("The run failed, but no test did: turbo names the package after `Failed:` above.");
  }
  // Without a failed test, a failed run or step counts as one.
  failed ||= failedSteps || (exitCode === 0 ? 0 : 1);
  print(`${passed} passed, ${failed} failed`);
  // A whole run without a test is not a success.
  return failed === 0 && (passed > 0 || turboOptions.length > 0) ? 0 : 1;
}

/** The reports that exist, one for each package (tools/harness/src/config.ts). */
function resultFiles() {
  return filesOfPackages("test-results.json");
}

/** The end of the output of each package that failed without a failed test: such an error is in no report. */
function failedLogs(failures) {
  return filesOfPackages(turboLog)
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8").trimEnd() }))
    .filter(({ text }) => text.includes("[ELIFECYCLE]"))
    .filter(({ path }) => !failures.some(({ title }) => title.startsWith(path.slice(0, -turboLog.length))))
    .map(({ path, text }) => ({ path, end: text.split("\n").slice(-50).join("\n") }));
}

function filesOfPackages(path) {
  return ["packages", "services", "tools"]
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name, path)))
    .filter((file) => existsSync(file));
}

/** Returns the exit code of turbo. */
function runTurbo() {
  // More at once than cores: most tests wait for servers.
  const command = ["run.mjs", "turbo", "run", "test", "--concurrency=3", "--continue", ...turboOptions];
  const tests = spawn(process.execPath, command, { cwd: root, stdio: "inherit" });
  // Ctrl+C reaches the tests too. The report follows when they have ended.
  process.on("SIGINT", () => {});
  return new Promise((resolve) => tests.on("close", (code) => resolve(code ?? 1)));
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
