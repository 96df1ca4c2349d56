// Each role has a password of its own, in a file of its own with mode 0600. The services get the one of `service`, the
// migrations the one of `owner`. The superuser's stays in this package.
import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

export const roleNames = { superuser: "postgres", owner: "petstore", service: "petstore_service" } as const;

export type Role = keyof typeof roleNames;

export function createPassword(): string {
  return randomBytes(24).toString("base64url");
}

export function passwordFile(clusterRoot: string, role: Role): string {
  return join(clusterRoot, `${role}-password`);
}

/** Undefined when there is no such file. */
export async function readPassword(clusterRoot: string, role: Role): Promise<string | undefined> {
  return readIfPresent(passwordFile(clusterRoot, role));
}

/** The file appears complete or not at all, and is on the disk when this resolves. */
export async function writePassword(clusterRoot: string, role: Role, password: string): Promise<void> {
  const path = passwordFile(clusterRoot, role);
  const partial = `${path}.new`;
  await rm(partial, { force: true });
  await writeSynced(partial, `${password}\n`);
  await rename(partial, path);
  await syncDirectory(clusterRoot);
}

/**
 * Every password that the superuser may have, the likeliest first. Up to version 1.0 the superuser and the application
 * shared one password, in `password`; until the upgrade removes that file, either password may be valid.
 */
export async function superuserPasswords(clusterRoot: string): Promise<string[]> {
  const found = [await readPassword(clusterRoot, "superuser"), await readIfPresent(sharedPasswordFile(clusterRoot))];
  return found.filter((password) => password !== undefined);
}

export async function hasSharedPassword(clusterRoot: string): Promise<boolean> {
  return (await readIfPresent(sharedPasswordFile(clusterRoot))) !== undefined;
}

export async function removeSharedPassword(clusterRoot: string): Promise<void> {
  await rm(sharedPasswordFile(clusterRoot), { force: true });
}

export async function syncDirectory(path: string): Promise<void> {
  // Windows has no descriptor of a directory to sync.
  if (process.platform === "win32") return;
  await using handle = await open(path, "r");
  await handle.sync();
}

function sharedPasswordFile(clusterRoot: string): string {
  return join(clusterRoot, "password");
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Only its owner can read the file, from its first moment on. */
async function writeSynced(path: string, content: string): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(content);
  await file.sync();
}
