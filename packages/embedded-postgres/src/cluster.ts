// One cluster is one folder, `cluster/`: PostgreSQL's `data/`, a password file for each role, the `port` last used, a
// `reserve` file for a full disk, and `server.log`. It is made under another name and renamed, so it exists whole or not at all: whoever is killed leaves only
// a `cluster.new-*`, and of two who make one at once the rename of the second fails and it takes the first one's.
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { chooseAccount, giveTo, lend, runAs, type ServerAccount } from "./account.js";
import { type Binaries, findBinaries, majorVersion } from "./binaries.js";
import { explainOutput } from "./failure.js";
import { createPassword, passwordFile, roleNames, syncDirectory, writePassword } from "./passwords.js";

export interface Cluster {
  readonly directory: string;
  /** Holds everything below. */
  readonly root: string;
  readonly data: string;
  readonly logFile: string;
  readonly portFile: string;
  readonly durable: boolean;
  readonly account: ServerAccount | undefined;
  readonly binaries: Binaries;
}

const unfinished = "cluster.new-";

/** Finds or makes the cluster of a directory. */
export async function prepareCluster(directory: string, durable: boolean): Promise<Cluster> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const paths = clusterPaths(directory);
  const account = await chooseAccount(paths.data);
  const binaries = await findBinaries(account);
  if (!(await exists(paths.root))) await makeCluster(directory, durable, account, binaries);
  await checkVersion(paths.data);
  return { ...paths, directory, durable, account, binaries };
}

export function clusterPaths(directory: string): {
  root: string;
  data: string;
  logFile: string;
  portFile: string;
} {
  const root = join(directory, "cluster");
  return {
    root,
    data: join(root, "data"),
    logFile: join(root, "server.log"),
    portFile: join(root, "port"),
  };
}

/**
 * Only for the owner: a complete cluster exists then, so what is removed is either abandoned
 * or belongs to somebody who is about to find that cluster.
 */
export async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(unfinished)) continue;
    // An orphaned initdb may still be writing there; the next owner gets what is left.
    await rm(join(directory, name), { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
  }
}

async function makeCluster(
  directory: string,
  durable: boolean,
  account: ServerAccount | undefined,
  binaries: Binaries,
): Promise<void> {
  const root = join(directory, `${unfinished}${randomBytes(6).toString("hex")}`);
  const target = clusterPaths(directory).root;
  try {
    await mkdir(join(root, "data"), { recursive: true, mode: 0o700 });
    await writePassword(root, "superuser", createPassword());
    await giveTo(account, join(root, "data"), passwordFile(root, "superuser"));
    // Without descriptors to lend, the account has to walk the whole way.
    if (process.platform !== "linux") await giveTo(account, directory, root);
    await runInitdb(root, durable, account, binaries);
    await rename(root, target);
    await syncDirectory(directory);
  } catch (error) {
    await rm(root, { recursive: true, force: true }).catch(() => {});
    if (!(await exists(target))) throw error;
  }
}

async function runInitdb(
  root: string,
  durable: boolean,
  account: ServerAccount | undefined,
  binaries: Binaries,
): Promise<void> {
  await using data = await lend(account, join(root, "data"), 3);
  await using password = await lend(account, passwordFile(root, "superuser"), 4);
  const finished = await runAs(
    account,
    binaries.initdb,
    [
      `--pgdata=${data.name}`,
      `--pwfile=${password.name}`,
      `--username=${roleNames.superuser}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      // The same order of text on every machine, whatever its C library or ICU.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
      ...(durable ? [] : ["--no-sync"]),
    ],
    [...data.descriptors, ...password.descriptors],
  );
  if (finished.exitCode !== 0) throw explainOutput("initdb", finished.output);
}

async function checkVersion(data: string): Promise<void> {
  const found = (await readFile(join(data, "PG_VERSION"), "utf8").catch(() => "")).trim();
  if (found === majorVersion) return;
  throw new Error(
    found === ""
      ? "The data directory holds no complete PostgreSQL data: restore it, or choose another directory"
      : `The data was written by PostgreSQL ${found} and this program runs ${majorVersion}: choose another directory`,
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
