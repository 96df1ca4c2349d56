import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Looks for the program in the PATH. */
export function isInstalled(program: string): boolean {
  return searchPath()
    .split(delimiter)
    .some((directory) => isExecutable(join(directory, program)));
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

/** The PATH of this process. */
export function searchPath(): string {
  // biome-ignore lint/style/noProcessEnv: tests and tools use the programs of this machine.
  return process.env.PATH ?? "";
}
