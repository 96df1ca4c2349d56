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

/**
 * Up to version 1.0 the superuser and the application shared one password, in `password`. Until the upgrade removes that
 * file, the superuser may have either password.
 */
export function passwordFile(clusterRoot: string, role: Role | "shared"): string {
  return join(clusterRoot, role === "shared" ? "password" : `${role}-password`);
}

export async function readPassword(clusterRoot: string, role: Role | "shared"): Promise<string | undefined> {
  try {
    return (await readFile(passwordFile(clusterRoot, role), "utf8")).trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Only its owner can read the file. It appears complete or not at all, and is on the disk when this resolves. */
export async function writePassword(clusterRoot: string, role: Role, password: string): Promise<void> {
  const path = passwordFile(clusterRoot, role);
  const partial = `${path}.new`;
  await rm(partial, { force: true });
  {
    await using file = await open(partial, "wx", 0o600);
    await file.writeFile(`${password}\n`);
    await file.sync();
  }
  await rename(partial, path);
  await syncDirectory(clusterRoot);
}

export async function syncDirectory(path: string): Promise<void> {
  // Windows has no descriptor of a directory to sync.
  if (process.platform === "win32") return;
  await using handle = await open(path, "r");
  await handle.sync();
}
