// The worst a disk can hold after a loss of power: of PostgreSQL's log what it has flushed, of everything else what was
// there before, because nothing but the log is flushed on the way to an answer. PostgreSQL has to make up for the rest.
import { execFile } from "node:child_process";
import { open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Session } from "@petstore/harness/postgres";
import { postmasterOf } from "./standalone-store.js";

export interface WorstDisk {
  /** Notes what is flushed at this moment, and kills every process of PostgreSQL. */
  losePower(): Promise<void>;
  /** Puts what was flushed until then in the place of what was written. */
  restore(): Promise<void>;
}

const run = promisify(execFile);

/** Keeps what is there now, while nobody writes. The session ends with the power. */
export async function openWorstDisk(directory: string, session: Session): Promise<WorstDisk> {
  const data = join(directory, "cluster", "data");
  const [before, after] = [join(directory, "before"), join(directory, "after")];
  await rm(before, { recursive: true, force: true });
  await copy(data, before);
  let flushed = { file: "", bytes: 0 };
  return {
    async losePower() {
      const [row = {}] = await session.query(
        `select file_name, file_offset, array(select pid from pg_stat_activity where pid <> pg_backend_pid()) as others
         from pg_walfile_name_offset(pg_current_wal_flush_lsn())`,
      );
      flushed = { file: `${row.file_name}`, bytes: Number(row.file_offset) };
      const parent = await postmasterOf(directory);
      // The one that has answered ends when it misses its parent.
      for (const pid of [parent, ...(row.others as readonly number[])]) process.kill(pid, "SIGKILL");
    },
    async restore() {
      await rename(data, after);
      await rename(before, data);
      const log = join(data, "pg_wal");
      await rm(log, { recursive: true });
      await copy(join(after, "pg_wal"), log);
      await rm(after, { recursive: true });
      await cut(log, flushed);
    },
  };
}

/** With its owner, who need not be ours. */
async function copy(from: string, to: string): Promise<void> {
  await run("cp", ["-a", from, to]);
}

/** The names of the log's files sort as the files follow each other. */
async function cut(log: string, { file, bytes }: { readonly file: string; readonly bytes: number }): Promise<void> {
  for (const name of await readdir(log)) {
    if (!/^[\dA-F]{24}$/.test(name) || name < file) continue;
    if (name > file) await rm(join(log, name));
    else {
      await using segment = await open(join(log, name), "r+");
      const { size } = await segment.stat();
      await segment.write(Buffer.alloc(size - bytes), 0, size - bytes, bytes);
    }
  }
}
