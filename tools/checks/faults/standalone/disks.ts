import { execFile } from "node:child_process";
import { open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Session } from "@petstore/harness/postgres";
import { postmasterOf } from "@petstore/harness/processes";

const run = promisify(execFile);

/**
 * A file system in memory with a fixed size. Disposing unmounts it. `undefined` where this process may not mount: only root
 * may, and in a container often not even root.
 */
export async function mountSmallDisk(folder: string, megabytes: number) {
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0700`, "tmpfs", folder]);
  } catch (error) {
    if (/must be superuser|permission denied|not permitted/.test(`${error}`)) return undefined;
    throw error;
  }
  const ballast = join(folder, "ballast");
  return {
    /** Fills it to the last byte: `cat` ends when the next byte does not fit. */
    fill: () => run("sh", ["-c", '! cat /dev/zero >"$1"', "sh", ballast]),
    free: () => rm(ballast),
    [Symbol.asyncDispose]: async () => void (await run("umount", [folder])),
  };
}

/**
 * The disk of a standalone store after a loss of power. It holds the part of PostgreSQL's log that was flushed, and the
 * old state of every other file, because the way to an answer flushes only the log. PostgreSQL must repair the rest.
 * Nothing may write while this keeps the old state. The session ends with the power.
 */
export async function openPowerLossDisk(directory: string, session: Session) {
  const data = join(directory, "cluster", "data");
  const [before, after] = [join(directory, "before"), join(directory, "after")];
  await rm(before, { recursive: true, force: true });
  await copy(data, before);
  let flushed = { file: "", bytes: 0 };
  return {
    /** Notes the flushed part of the log, and kills every process of PostgreSQL. */
    async losePower(): Promise<void> {
      const [row = {}] = await session.query(
        `select file_name, file_offset, array(select pid from pg_stat_activity where pid <> pg_backend_pid()) as others
         from pg_walfile_name_offset(pg_current_wal_flush_lsn())`,
      );
      flushed = { file: `${row.file_name}`, bytes: Number(row.file_offset) };
      const parent = await postmasterOf(directory);
      // The backend that has answered ends when it notices the end of its parent.
      for (const pid of [parent, ...(row.others as readonly number[])]) process.kill(pid, "SIGKILL");
    },
    /** Replaces the files with the state that was flushed. */
    async restore(): Promise<void> {
      await rename(data, after);
      await rename(before, data);
      const log = join(data, "pg_wal");
      await rm(log, { recursive: true });
      await copy(join(after, "pg_wal"), log);
      await rm(after, { recursive: true });
      await cutLog(log, flushed);
    },
  };
}

/** With the owners of the files. */
async function copy(from: string, to: string): Promise<void> {
  await run("cp", ["-a", from, to]);
}

/** Removes the part that was not flushed. The names of the log's files sort in the order of the log. */
async function cutLog(log: string, { file, bytes }: { readonly file: string; readonly bytes: number }): Promise<void> {
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
