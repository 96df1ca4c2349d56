// The roles of a cluster, their passwords, their rights and their database. Each password is in a file of its own with mode
// 0600. The services get the one of `service`, the migrations the one of `owner`. The superuser's stays in this package.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const databaseName = "petstore";

export const roleNames = { superuser: "postgres", owner: "petstore", service: "petstore_service" } as const;

export type Role = keyof typeof roleNames;

/** For the superuser, in `template1`. A new database gets a copy of the rights on functions there. */
export const setupStatements: readonly string[] = [
  // PostgreSQL lets every role create large objects, which no right on a table or database prevents.
  "REVOKE EXECUTE ON FUNCTION lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) FROM PUBLIC",
  // No superuser, so that no statement can read files or run programs on the machine. Tests create databases with it.
  `CREATE ROLE ${roleNames.owner} LOGIN CREATEDB`,
  `CREATE ROLE ${roleNames.service} LOGIN`,
  `CREATE DATABASE ${databaseName} OWNER ${roleNames.owner}`,
  // PostgreSQL lets every role connect to these. There the service role could create temporary tables, and hold the lock
  // that marks the owner of the cluster.
  "REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC",
];

/**
 * For the owner of a database: covers the tables that exist, and those that its migrations will create. A migration
 * makes the audit log one to which the service role only adds entries; a repeated grant does not undo this.
 */
export function serviceGrants(database: string): string {
  const service = roleNames.service;
  return `
    REVOKE ALL ON DATABASE ${database} FROM PUBLIC;
    GRANT CONNECT ON DATABASE ${database} TO ${service};
    GRANT USAGE ON SCHEMA public TO ${service};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${service};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${service};
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${service};
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO ${service};
    DO $$ BEGIN
      IF to_regclass('audit_log') IS NOT NULL THEN REVOKE UPDATE, DELETE ON audit_log FROM ${service}; END IF;
    END $$`;
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

/**
 * Creates the password if its file does not exist: an operator removes a file to get a new password. `execute` runs a
 * statement as the superuser. The file is written last, so after a crash the next start does both again.
 */
export async function preparePassword(
  clusterRoot: string,
  role: Role,
  execute: (statement: string) => Promise<unknown>,
): Promise<string> {
  const existing = await readPassword(clusterRoot, role);
  if (existing !== undefined) return existing;
  const password = randomBytes(24).toString("base64url");
  await execute(`ALTER ROLE ${roleNames[role]} PASSWORD '${password}'`);
  await writeFile(passwordFile(clusterRoot, role), `${password}\n`, { mode: 0o600, flush: true });
  return password;
}

export function passwordFile(clusterRoot: string, role: Role): string {
  return join(clusterRoot, `${role}-password`);
}
