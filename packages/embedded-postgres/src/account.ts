// PostgreSQL refuses to run as root, so root lends the server an account. It creates none: the owner of the existing
// data, else `postgres`, else `nobody` is enough, because that account needs nothing but its own data directory.
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";

export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

/** Undefined when the server can run as the caller: everybody but root. */
export async function chooseAccount(existingData: string): Promise<ServerAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const data = await stat(existingData).catch(() => undefined);
  if (data !== undefined && data.uid !== 0) return { uid: data.uid, gid: data.gid };
  const account = (await lookUp("postgres")) ?? (await lookUp("nobody"));
  if (account === undefined) {
    throw new Error("PostgreSQL does not run as root, and this machine has neither a postgres nor a nobody account");
  }
  return account;
}

export async function giveTo(account: ServerAccount | undefined, ...paths: readonly string[]): Promise<void> {
  if (account === undefined) return;
  for (const path of paths) await chown(path, account.uid, account.gid);
}

/**
 * The name of a folder for a program that works in it. Following /proc/self/cwd checks no folder above, so data below a home
 * with mode 700 works, and the folders above stay closed to the account. PostgreSQL accepts no name of more than 1,023 bytes,
 * and a line break in a name would damage `postmaster.pid`.
 */
export function nameInside(directory: string): string {
  return process.platform === "linux" ? "/proc/self/cwd" : directory;
}

/** A clean environment, and a session of its own: a terminal's Ctrl-C is for us, who then stop the server. */
export function spawnOptions(
  account: ServerAccount | undefined,
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): SpawnOptions {
  return {
    ...account,
    ...(process.platform === "win32" ? {} : { cwd, env: { LC_ALL: "C", PATH: "/usr/bin:/bin", ...env } }),
    detached: true,
    windowsHide: true,
  };
}

/** Runs a program to its end and collects its output. Throws if it cannot be started. */
export async function runAs(
  account: ServerAccount | undefined,
  program: string,
  args: readonly string[],
  { cwd = "/", input = "" }: { readonly cwd?: string; readonly input?: string } = {},
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const child = spawn(program, args, { ...spawnOptions(account, cwd), stdio: "pipe" });
  // Rejects if the program cannot be started. Without free descriptors, the child has no streams then.
  await once(child, "spawn");
  // A program that ends without reading its input says why in its output.
  child.stdin.on("error", () => {}).end(input);
  const [[exitCode], stdout, stderr] = await Promise.all([
    once(child, "close"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { exitCode, output: stdout + stderr };
}

/**
 * The reason of a failure in one line, from the output of one of PostgreSQL's programs; `cause` keeps the output. The words
 * are stable: the programs run with LC_ALL=C and in a pinned version.
 */
export function explainOutput(program: string, directory: string, output: string): Error {
  const fatal = /(?:FATAL|PANIC|error): +(?!the database system is )(.+)/.exec(output)?.[1];
  const reason = (fatal ?? output.trim().split("\n").at(-1))?.replaceAll(nameInside(directory), () => directory);
  // The message of the checkpoint itself is on a level that is not logged.
  const hint = reason === "checkpoint request failed" ? ": the disk is full or broken" : "";
  return new Error(`${program} failed: ${reason || "it gave no reason"}${hint}`, { cause: output });
}

async function lookUp(name: string): Promise<ServerAccount | undefined> {
  const [uid, gid] = await Promise.all([runAs(undefined, "id", ["-u", name]), runAs(undefined, "id", ["-g", name])]);
  if (uid.exitCode !== 0 || gid.exitCode !== 0) return undefined;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}
