// One cluster is one folder, `cluster/`: PostgreSQL's `data/`, a password file for each role, a `reserve` file
// for a full disk, and `server.log`. It is made as `cluster.new-*`, with its roles and its database, and then
// renamed, so it is complete or absent.
// If two processes make one at once, the rename of the second fails, and it uses the first one's.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { access, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseAccount, explainOutput, giveTo, nameInside, runAs, type ServerAccount } from "./account.js";
import { findBinaries } from "./binaries.js";
import { createPassword, passwordFile, readSuperuserPassword, writePassword } from "./passwords.js";
import { databaseName, roleNames, serviceGrants, setupStatements } from "./roles.js";

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

type NewCluster = Omit<Cluster, "superuserPassword">;

const unfinished = "cluster.new-";

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
  // Without the folder, an error would name the program that should work in it.
  await access(paths.data);
  return { ...cluster, superuserPassword: await readSuperuserPassword(paths.root) };
}

/** Only for the owner. A complete cluster exists then, so nobody needs the others. */
export async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(unfinished)) continue;
    // An orphaned initdb may still be writing there; the next owner gets what is left.
    await rm(join(directory, name), { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
  }
}

async function makeCluster(cluster: NewCluster): Promise<void> {
  const { directory, account } = cluster;
  const root = join(directory, `${unfinished}${randomBytes(6).toString("hex")}`);
  const data = join(root, "data");
  try {
    await mkdir(data, { recursive: true, mode: 0o700 });
    await writePassword(root, "superuser", createPassword());
    await giveTo(account, data, passwordFile(root, "superuser"));
    // Without /proc, the account has to walk the whole way.
    if (process.platform !== "linux") await giveTo(account, directory, root);
    await runInitdb(root, cluster);
    await runStatements(data, cluster, "template1", setupStatements);
    const asOwner = [`SET ROLE ${roleNames.owner}`, serviceGrants(databaseName)];
    await runStatements(data, cluster, databaseName, asOwner);
    await syncDirectory(root);
    await rename(root, cluster.root);
    await syncDirectory(directory);
  } catch (error) {
    await rm(root, { recursive: true, force: true }).catch(() => {});
    if (!existsSync(cluster.root)) throw error;
  }
}

async function runInitdb(root: string, { account, binaries }: NewCluster): Promise<void> {
  const data = join(root, "data");
  const password = passwordFile(root, "superuser");
  await using input = await open(password);
  const initdbArguments = [
    `--pgdata=${nameInside(data)}`,
    `--pwfile=${process.platform === "win32" ? password : "/dev/stdin"}`,
    `--username=${roleNames.superuser}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    // The same order of text on every machine, independent of its C library and ICU.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
  ];
  const finished = await runAs(account, join(binaries, "initdb"), initdbArguments, { cwd: data, input });
  if (finished.exitCode !== 0) throw explainOutput("initdb", data, finished.output);
}

/** Runs each statement as the superuser, in PostgreSQL's single-user mode, which listens on no port. */
async function runStatements(
  data: string,
  { account, binaries }: NewCluster,
  database: string,
  statements: readonly string[],
): Promise<void> {
  const postgresArguments = ["--single", "-j", "-D", nameInside(data), "-c", "exit_on_error=true", database];
  // With -j, a statement ends with these three characters.
  const input = statements.map((statement) => `${statement};\n\n`).join("");
  const finished = await runAs(account, join(binaries, "postgres"), postgresArguments, { cwd: data, input });
  if (finished.exitCode !== 0) throw explainOutput("postgres", data, finished.output);
}

async function syncDirectory(path: string): Promise<void> {
  // Windows has no descriptor of a directory to sync.
  if (process.platform === "win32") return;
  await using handle = await open(path, "r");
  await handle.sync();
}
