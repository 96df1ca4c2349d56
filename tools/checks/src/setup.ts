// Runs in the process of every test file.
import { isInstalled } from "@petstore/harness/processes";
import { beforeEach } from "vitest";

// When the command was killed, this ends the programs that the test has started.
process.once("disconnect", () => process.exit(1));

// Every tag of a test is the name of a program that it needs.
beforeEach(({ task, skip }) => {
  const missing = (task.tags ?? []).filter((program) => !isInstalled(program));
  if (missing.length === 0) return;
  const reason = `${missing.join(" and ")} not in PATH`;
  // biome-ignore lint/style/noProcessEnv: nobody reads what was skipped where CI is set, so the test fails there.
  if ((process.env.CI ?? "") !== "") throw new Error(reason);
  skip(reason);
});
