// A cluster is the folder `cluster/`: PostgreSQL's `data/`, a password file for each role, a `reserve` file for a full disk,
// and `server.log`. It is created as `cluster.new-*` and then renamed, so it is complete or absent. If two processes create
// it at once, the second rename fails, and both use the first cluster.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { access, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseAccount, explainOutput, giveTo, nameInside, runAs, type ServerAccount } from "./account.js";
import { findBinaries } from "./binaries.js";
import {
  databaseName,
  passwordFile,
  preparePassword,
  readPassword,
  roleNames,
  serviceGrants,
  setupStatements,
} from "./roles.js";

export interface ClusterPaths {
  readonly root: string;
  readonly data: string;
  readonly logFile: string;
}

export interface Cluster extends ClusterPaths {
  readonly directory: string;
  readonly account: ServerAccount | undefined;
  /** The folder of the programs of PostgreSQL. */
  readonly binaries: string;
  readonly superuserPassword: string;
}

const unfinished = "cluster.new-";
const initdbOptions = [
  `--username=${roleNames.superuser}`,
  // If local connections used SCRAM too, initdb would ask for a password. Until one is set, nobody can connect.
  "--auth-local=reject",
  "--auth-host=scram-sha-256",
  "--encoding=UTF8",
  // Text has the same order on every machine, independent of its C library and ICU.
  "--locale=C",
  "--locale-provider=builtin",
  "--builtin-locale=C.UTF-8",
  "--no-instructions",
];

/** The data directory of the standalone store and the command line. Default: `.petstore` in the checkout. */
export function dataDirectory(configured: string | undefined): string {
  return resolve(configured || fileURLToPath(new URL("../../../.petstore", import.meta.url)));
}

export function clusterPaths(directory: string): ClusterPaths {
  const root = join(directory, "cluster");
  return { root, data: join(root, "data"), logFile: join(root, "server.log") };
}

export async function prepareCluster(directory: string): Promise<Cluster> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const paths = clusterPaths(directory);
  const account = await chooseAccount(paths.data);
  const cluster = { ...paths, directory, account, binaries: await findBinaries(account) };
  if (!existsSync(paths.root)) await makeCluster(cluster);
  // If the folder is missing, the error of `spawn` would name the program instead of the folder.
  await access(paths.data);
  const superuserPassword = await readPassword(paths.root, "superuser");
  if (superuserPassword === undefined) {
    const file = passwordFile(paths.root, "superuser");
    throw new Error(
      `${file} is missing. If version 1.0 wrote the data, start it once with version 1.1; else restore the file`,
    );
  }
  return { ...cluster, superuserPassword };
}

/** Only the owner calls this: its cluster is complete, so nobody needs the unfinished ones. */
export async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(unfinished)) continue;
    // An orphaned initdb may still write files there. The next owner removes them.
    await rm(join(directory, name), { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
  }
}

async function makeCluster(cluster: Omit<Cluster, "superuserPassword">): Promise<void> {
  const { directory, account, binaries } = cluster;
  const root = join(directory, `${unfinished}${randomBytes(6).toString("hex")}`);
  const data = join(root, "data");
  const run = async (program: "initdb" | "postgres", options: readonly string[], input = "") => {
    const { exitCode, output } = await runAs(account, join(binaries, program), options, { cwd: data, input });
    if (exitCode !== 0) throw explainOutput(program, data, output);
  };
  // Single-user mode runs as the superuser and listens on no port. With -j, a blank line ends a statement.
  const execute = (database: string, statements: readonly string[]) => {
    const options = ["--single", "-j", "-D", nameInside(data), "-c", "exit_on_error=true", database];
    return run("postgres", options, statements.map((statement) => `${statement};\n\n`).join(""));
  };
  try {
    await mkdir(data, { recursive: true, mode: 0o700 });
    await giveTo(account, data);
    // Without /proc, the account must be able to enter these folders.
    if (process.platform !== "linux") await giveTo(account, directory, root);
    await run("initdb", [`--pgdata=${nameInside(data)}`, ...initdbOptions]);
    await preparePassword(root, "superuser", (setPassword) => execute("template1", [...setupStatements, setPassword]));
    await execute(databaseName, [`SET ROLE ${roleNames.owner}`, serviceGrants(databaseName)]);
    await syncDirectory(root);
    await rename(root, cluster.root);
    await syncDirectory(directory);
  } catch (error) {
    await rm(root, { recursive: true, force: true }).catch(() => {});
    if (!existsSync(cluster.root)) throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows cannot sync a directory.
  if (process.platform === "win32") return;
  await using handle = await open(path, "r");
  await handle.sync();
}
