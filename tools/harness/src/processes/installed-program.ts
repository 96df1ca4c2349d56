import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a program can be started by its name, as far as looking tells. */
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
    // Absent or not executable: the search goes on in the next directory.
    return false;
  }
}

function searchPath(): string {
  // biome-ignore lint/style/noProcessEnv: what the machine has is what this asks, on behalf of tests and tools alone.
  return process.env.PATH ?? "";
}
