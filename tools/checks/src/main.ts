import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isInstalled } from "@petstore/harness/processes";
import { createVitest } from "vitest/node";
import { readCommandLine } from "./command-line.js";
import { projects } from "./projects.js";
import { createReporter } from "./reporter.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const warn = (text: string): void => void process.stderr.write(`${text}\n`);

const command = readCommandLine(process.argv.slice(2), (project) =>
  readdirSync(`${root}/${project}`, { recursive: true })
    .map((path) => `${project}/${path}`)
    .filter((path) => path.endsWith(".test.ts"))
    .sort(),
);
switch (command.kind) {
  case "help":
    print(command.text);
    break;
  case "wrong":
    warn(command.reason);
    process.exitCode = 2;
    break;
  case "run":
  case "list": {
    const { kind, project, files, namePattern, jsonFile, options } = command;
    const { programs = [], minutesAtMost } = projects[project] ?? {};
    const missing = programs.filter((program) => !isInstalled(program));
    if (missing.length > 0) warn(`Some tests are skipped. To run them: apt-get install ${missing.join(" ")}`);
    const isWhole = files.length === 0 && namePattern === undefined;
    const reporter = createReporter({
      progress: warn,
      print,
      jsonFile,
      minutesAtMost: isWhole ? minutesAtMost : undefined,
    });
    const vitest = await createVitest("test", {
      root,
      project: [project],
      watch: false,
      reporters: [reporter],
      ...(namePattern !== undefined && { testNamePattern: namePattern }),
    });
    vitest.provide("projectOptions", options);
    if (kind === "list") {
      const { testModules } = await vitest.collect([...files]);
      for (const module of testModules) for (const test of module.children.allTests()) print(test.fullName);
    } else {
      await vitest.start([...files]);
      if (reporter.report?.tests.length === 0 && reporter.report.errors.length === 0) {
        warn("No test has such a name. --list prints the names.");
        process.exitCode = 2;
      } else if (reporter.report?.passed !== true) process.exitCode = 1;
    }
    await vitest.close();
  }
}
