// PostgreSQL refuses to run as root. For root, the server runs as the owner of the existing data, else as `postgres`, else
// as `nobody`. No account is created, because the server needs only its data directory.
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, stat } from "node:fs/promises";
import { text } from "node:stream/consumers";

export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

/** Returns undefined unless the caller is root. */
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
 * The path of the working directory of a program. With /proc/self/cwd, the account needs no access to the folders above,
 * such as a home with mode 700. PostgreSQL accepts at most 1,023 bytes, and a line break would damage `postmaster.pid`.
 */
export function nameInside(directory: string): string {
  return process.platform === "linux" ? "/proc/self/cwd" : directory;
}

/** A clean environment, and a session of its own, which Ctrl-C in the terminal does not reach. */
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
  // Rejects if the program cannot be started. Without free descriptors, such a child has no streams.
  await once(child, "spawn");
  // If a program ends without reading its input, its output contains the reason.
  child.stdin.on("error", () => {}).end(input);
  const [[exitCode], stdout, stderr] = await Promise.all([
    once(child, "close"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { exitCode, output: stdout + stderr };
}

/** Finds the reason of a failure in the output. The words are stable: the version is pinned, and LC_ALL is C. */
export function explainOutput(program: string, directory: string, output: string): Error {
  const fatal = /(?:FATAL|PANIC|error): +(?!the database system is )(.+)/.exec(output)?.[1];
  const reason = (fatal ?? output.trim().split("\n").at(-1))?.replaceAll(nameInside(directory), () => directory);
  return new Error(`${program} failed: ${reason || "it gave no reason"}${hintFor(reason)}`, { cause: output });
}

function hintFor(reason = ""): string {
  // PostgreSQL does not log the error of the checkpoint, because `log_min_messages=log` hides errors.
  if (reason === "checkpoint request failed") return ": the disk is full or broken";
  // A container may run with a user id that has no entry.
  if (reason.includes("could not look up effective user ID")) return ". Add an entry for this user id to /etc/passwd";
  return "";
}

async function lookUp(name: string): Promise<ServerAccount | undefined> {
  const [uid, gid] = await Promise.all([runAs(undefined, "id", ["-u", name]), runAs(undefined, "id", ["-g", name])]);
  if (uid.exitCode !== 0 || gid.exitCode !== 0) return undefined;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}
