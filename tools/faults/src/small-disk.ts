import { execFile } from "node:child_process";
import { appendFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { NotPossibleHere } from "./scenario.js";

/** A file system of its own on a folder, in memory, that can be filled to the last byte. Disposing unmounts it. */
export interface SmallDisk extends AsyncDisposable {
  fill(): Promise<void>;
  free(): Promise<void>;
}

const run = promisify(execFile);
/** Fills the bulk, then what is left of it. */
const pieces = [1024 * 1024, 4096];

export async function mountSmallDisk(folder: string, megabytes: number): Promise<SmallDisk> {
  await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0700`, "tmpfs", folder]).catch((error: unknown) => {
    throw new NotPossibleHere(`a file system of a size can be mounted by root alone, on Linux: ${oneLine(error)}`);
  });
  const ballast = join(folder, "ballast");
  return {
    async fill() {
      for (const size of pieces) while (await fits(ballast, Buffer.alloc(size)));
    },
    free: () => rm(ballast),
    async [Symbol.asyncDispose]() {
      await run("umount", [folder]);
    },
  };
}

async function fits(file: string, piece: Buffer): Promise<boolean> {
  try {
    await appendFile(file, piece);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") return false;
    throw error;
  }
}

function oneLine(error: unknown): string {
  return `${error instanceof Error ? error.message : error}`.trim().replaceAll(/\s+/g, " ");
}
