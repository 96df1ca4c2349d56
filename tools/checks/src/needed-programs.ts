// Every tag of a test is the name of a program that it needs.
import { isInstalled } from "@petstore/harness/processes";
import { beforeEach } from "vitest";

beforeEach(({ task, skip }) => {
  const missing = (task.tags ?? []).filter((program) => !isInstalled(program));
  if (missing.length === 0) return;
  const reason = `${missing.join(" and ")} not in PATH`;
  // biome-ignore lint/style/noProcessEnv: nobody reads what was skipped where CI is set, so the test fails there.
  if ((process.env.CI ?? "") !== "") throw new Error(reason);
  skip(reason);
});
