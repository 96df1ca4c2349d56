// PostgreSQL refuses to run as root, so root lends the server an account. It creates none: the owner of the existing
// data, else `postgres`, else `nobody` is enough, because that account needs nothing but its own data directory.
// On Linux the server gets that directory as an inherited descriptor and names it /proc/self/fd/3: following such a link
// checks no folder above it, so data below a home with mode 700 works, and the folders above stay closed to the account.
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { chown, open, stat } from "node:fs/promises";

export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

/** A path in the words of the server's programs; holds a descriptor until disposed. */
export interface LentPath extends AsyncDisposable {
  /** Valid in a process spawned with `descriptors` from number 3 on. */
  readonly name: string;
  readonly descriptors: readonly number[];
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

/** `position` is the number that the descriptor gets in the spawned process. */
export async function lend(account: ServerAccount | undefined, path: string, position = 3): Promise<LentPath> {
  if (account === undefined || process.platform !== "linux") {
    return { name: path, descriptors: [], [Symbol.asyncDispose]: async () => {} };
  }
  const handle = await open(path, "r");
  return {
    name: `/proc/self/fd/${position}`,
    descriptors: [handle.fd],
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Spawns with a clean environment, in a session of its own: a terminal's Ctrl-C is for us, who then stop the server. */
export function spawnAs(
  account: ServerAccount | undefined,
  program: string,
  args: readonly string[],
  stdio: SpawnOptions["stdio"],
  environment: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn(program, args, {
    ...account,
    ...(process.platform === "win32" ? {} : { cwd: "/", env: { LC_ALL: "C", PATH: "/usr/bin:/bin", ...environment } }),
    detached: true,
    windowsHide: true,
    stdio,
  });
}

/** Runs a program to its end and collects what it wrote. Throws when it cannot be started. */
export async function runAs(
  account: ServerAccount | undefined,
  program: string,
  args: readonly string[],
  descriptors: readonly number[] = [],
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const child = spawnAs(account, program, args, ["ignore", "pipe", "pipe", ...descriptors]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (exitCode) => resolve({ exitCode, output }));
  });
}

async function lookUp(name: string): Promise<ServerAccount | undefined> {
  const [uid, gid] = await Promise.all([runAs(undefined, "id", ["-u", name]), runAs(undefined, "id", ["-g", name])]);
  if (uid.exitCode !== 0 || gid.exitCode !== 0) return undefined;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}
