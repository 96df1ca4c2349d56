import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Looks for the program in the PATH. */
export function isInstalled(program: string): boolean {
  return searchPath()
    .split(delimiter)
    .some((directory) => isExecutable(join(directory, program)));
}

/** The programs that are not in PATH. Throws where CI is set, because nobody reads there which tests were skipped. */
// biome-ignore lint/style/noProcessEnv: only tests use this.
export function missingPrograms(programs: readonly string[], ci: string = process.env.CI ?? ""): readonly string[] {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length > 0 && ci !== "") throw new Error(`Not in PATH, although CI is set: ${missing.join(", ")}`);
  return missing;
}

/** The PATH of this process. */
export function searchPath(): string {
  // biome-ignore lint/style/noProcessEnv: tests and tools use the programs of this machine.
  return process.env.PATH ?? "";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // The next directory may have it.
    return false;
  }
}
