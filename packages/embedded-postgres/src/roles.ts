// The roles of a cluster. Services connect as `service`, and migrations as `owner`. Only this package uses the superuser.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const databaseName = "petstore";

export const roleNames = { superuser: "postgres", owner: "petstore", service: "petstore_service" } as const;

export type Role = keyof typeof roleNames;

/** The superuser runs them in `template1`: each new database copies the rights on functions from there. */
export const setupStatements: readonly string[] = [
  // PostgreSQL lets every role create large objects, which no right on a table or database prevents.
  "REVOKE EXECUTE ON FUNCTION lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) FROM PUBLIC",
  // No superuser, so that no statement can read files or run programs on the machine. Tests need CREATEDB.
  `CREATE ROLE ${roleNames.owner} LOGIN CREATEDB`,
  `CREATE ROLE ${roleNames.service} LOGIN`,
  `CREATE DATABASE ${databaseName} OWNER ${roleNames.owner}`,
  // By default every role may connect to these databases, create temporary tables, and hold the lock of the owner.
  "REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC",
];

/** The owner of a database runs them. They do not give back the rights on the audit log that a migration has revoked. */
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
    // A crash during the write can leave the file empty.
    return (await readFile(passwordFile(clusterRoot, role), "utf8")).trim() || undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Creates a password if its file does not exist. An operator removes the file to change the password. `execute` runs a
 * statement as the superuser. The file is written last: after a crash the next start repeats both steps.
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
