import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type RunRecord, runRecordJson } from "./run-record.js";

export interface KeptRun {
  readonly file: string;
  readonly record: RunRecord;
}

/** Such as 2026-11-21-65b8a8d.json; a second run of a commit on a day takes the place of the first. */
export function resultName({ startedAt, commit }: Pick<RunRecord, "startedAt" | "commit">): string {
  const name = commit === null ? "no-commit" : `${commit.name}${commit.dirty ? "-dirty" : ""}`;
  return `${startedAt.slice(0, 10)}-${name}.json`;
}

/** Resolves with the file. */
export async function keepRun(directory: string, record: RunRecord): Promise<string> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, resultName(record));
  await writeFile(file, runRecordJson(record));
  return file;
}

/** Throws, naming the file, when it is none that a run has written. */
export async function readRun(file: string): Promise<KeptRun> {
  const text = await readFile(file, "utf8");
  try {
    const record: RunRecord = JSON.parse(text);
    if (record.format === 1) return { file, record };
  } catch (error) {
    throw new Error(`${file} is no result of a run.`, { cause: error });
  }
  throw new Error(`${file} is no result of a run, or of another version of this program.`);
}

/** The last that was started, the one of that name left out; undefined where there is none. */
export async function newestRun(directory: string, exceptName: string): Promise<KeptRun | undefined> {
  const names = await namesIn(directory);
  const files = names.filter((name) => name.endsWith(".json") && name !== basename(exceptName));
  const runs = await Promise.all(files.map((name) => readRun(join(directory, name))));
  return runs.sort((a, b) => a.record.startedAt.localeCompare(b.record.startedAt)).at(-1);
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    // Nothing has been kept yet.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
