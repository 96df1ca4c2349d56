// Installs and builds what the store needs. When nothing has changed, pnpm and turbo find it out in a moment.
import { accessSync, constants, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
// @boundaries-ignore It works before anything is installed, so it cannot be a package.
import { install, runStep } from "../../run.mjs";

/** The store, and the `petstore` command. Other packages need many more dependencies. */
const projects = ["@petstore/standalone...", "@petstore/admin..."];
/** The tools that build. */
const tools = "petstore";
const root = fileURLToPath(new URL("../../", import.meta.url));
const main = fileURLToPath(new URL("dist/main.js", import.meta.url));

export async function build() {
  // For example in a container, which serves what was built for it.
  if (isReadOnly(root) && existsSync(main)) return;
  await install([tools, ...projects]);
  const targets = projects.map((name) => `--filter=${name}`);
  await runStep("Building", "turbo", ["run", "build", "--output-logs=errors-only", ...targets]);
}

function isReadOnly(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch {
    // Whatever the reason is, nothing can be written.
    return true;
  }
}
