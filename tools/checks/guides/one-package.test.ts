// CONTRIBUTING.md says how to run a task for one package.
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { repository, startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";

it.each([
  ["npm test -- --filter=@petstore/client", "test"],
  ["npx turbo run typecheck --filter=@petstore/client", "typecheck"],
])("%s runs for this package alone", { timeout: 120_000 }, async (command, task) => {
  expect(await readFile(new URL("CONTRIBUTING.md", repository), "utf8")).toContain(`\n    ${command}\n`);
  // Without the variables of the turbo that runs this test.
  await using program = startProgram({
    name: command,
    command: "sh",
    args: ["-c", `${command} --dry-run=json`],
    directory: fileURLToPath(repository),
    environment: { HOME: homedir(), npm_config_yes: "true" },
  });
  expect(await program.ended, program.output.join("\n")).toBe(0);
  const json = program.output.slice(program.output.indexOf("{")).join("\n");
  const { tasks } = JSON.parse(json) as { readonly tasks: readonly Task[] };
  expect(tasks.filter((other) => other.task === task).map(({ taskId }) => taskId)).toEqual([
    `@petstore/client#${task}`,
  ]);
});

interface Task {
  readonly task: string;
  readonly taskId: string;
}
