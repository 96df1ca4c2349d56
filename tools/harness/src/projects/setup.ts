// Runs in the process of every test file.
import { beforeEach } from "vitest";
import { missingPrograms } from "../processes/installed-program.js";

// When the command was killed, this ends the programs that the test has started.
process.once("disconnect", () => process.exit(1));

// Each program adds a listener for the end of this process. Node.js warns of a leak from the eleventh on.
process.setMaxListeners(30);

// Every tag of a test is the name of a program that it needs.
beforeEach(({ task, skip }) => {
  const missing = missingPrograms(task.tags ?? []);
  if (missing.length > 0) skip(`not in PATH: ${missing.join(", ")}`);
});
