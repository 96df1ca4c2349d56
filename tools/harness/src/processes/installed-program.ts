import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

export function isInstalled(program: string): boolean {
  return folderOf(program) !== undefined;
}

/** The first folder of the PATH with the program, or the folder of Debian with the programs of a PostgreSQL server. */
export function folderOf(program: string): string | undefined {
  return [...searchPath().split(delimiter), ...postgresFolders()].find((folder) => existsSync(join(folder, program)));
}

/** The programs that are not in PATH. Throws where CI is set, because nobody reads there which tests were skipped. */
// biome-ignore lint/style/noProcessEnv: only tests use this.
export function missingPrograms(programs: readonly string[], ci: string = process.env.CI ?? ""): readonly string[] {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length > 0 && ci !== "") throw new Error(`Not in PATH, although CI is set: ${missing.join(", ")}`);
  return missing;
}

export function searchPath(): string {
  // biome-ignore lint/style/noProcessEnv: tests and tools use the programs of this machine.
  return process.env.PATH ?? "";
}

/** The newest version first. Debian puts them into no PATH. */
function postgresFolders(): string[] {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).map(Number) : [];
  return versions.sort((one, other) => other - one).map((version) => join(root, `${version}`, "bin"));
}
