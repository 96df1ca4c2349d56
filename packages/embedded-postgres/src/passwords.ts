// Each role has a password of its own, in a file of its own with mode 0600. The services get the one of `service`, the
// migrations the one of `owner`. The superuser's stays in this package.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { type Role, roleNames } from "./roles.js";

export function passwordFile(clusterRoot: string, role: Role): string {
  return join(clusterRoot, `${role}-password`);
}

export async function readPassword(clusterRoot: string, role: Role): Promise<string | undefined> {
  try {
    // A crash while it is written can leave it empty.
    return (await readFile(passwordFile(clusterRoot, role), "utf8")).trim() || undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** A complete cluster has one, except a cluster of version 1.0. */
export async function readSuperuserPassword(clusterRoot: string): Promise<string> {
  const password = await readPassword(clusterRoot, "superuser");
  if (password !== undefined) return password;
  const file = passwordFile(clusterRoot, "superuser");
  throw new Error(
    `${file} is missing. If version 1.0 wrote the data, start it once with version 1.1; else restore the file`,
  );
}

export function createPassword(): string {
  return randomBytes(24).toString("base64url");
}

export async function writePassword(clusterRoot: string, role: Role, password: string): Promise<void> {
  await writeFile(passwordFile(clusterRoot, role), `${password}\n`, { mode: 0o600, flush: true });
}

/**
 * The first start has no file of the owner or the service yet, and an operator removes a file to get a new password. The
 * file is written last, so after a crash the next start does both again.
 */
export async function preparePassword(superuser: pg.Client, clusterRoot: string, role: Role): Promise<string> {
  const existing = await readPassword(clusterRoot, role);
  if (existing !== undefined) return existing;
  const password = createPassword();
  await superuser.query(`ALTER ROLE ${roleNames[role]} PASSWORD ${superuser.escapeLiteral(password)}`);
  await writePassword(clusterRoot, role, password);
  return password;
}
