// The superuser makes the roles, their passwords and the database, in a new cluster and in one of an earlier version.
// Each step may be the last one before a crash. A password file is written after its role has that password, so a
// missing file means that the step has to be done again.
import { rm } from "node:fs/promises";
import type pg from "pg";
import type { Cluster } from "./cluster.js";
import { type ConnectOptions, connectWithScram } from "./connection.js";
import { createPassword, passwordFile, type Role, readPassword, roleNames, writePassword } from "./passwords.js";

export const databaseName = "petstore";

/** PostgreSQL lets every role create large objects, which no right on a table or database prevents. */
const revokeLargeObjects =
  "REVOKE EXECUTE ON FUNCTION lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea) FROM PUBLIC";

/** Only for the process that owns the cluster. `superuser` is connected to the server at `port`. */
export async function prepareRoles(superuser: pg.Client, cluster: Cluster, port: number): Promise<void> {
  const { root } = cluster;
  if ((await readPassword(root, "shared")) !== undefined) await replaceSuperuserPassword(superuser, root);
  const ownerPassword = await preparePassword(root, "owner", (password) =>
    // No superuser, so that no statement can read files or run programs on the machine. Tests create databases with it.
    createOrChangeRole(superuser, "owner", "CREATEDB", password),
  );
  await createMissingDatabase(superuser);
  await preparePassword(root, "service", async (password) => {
    await createOrChangeRole(superuser, "service", "NOCREATEDB", password);
    const owner = { port, role: "owner", password: ownerPassword, database: databaseName } as const;
    await execute(owner, serviceGrants(databaseName));
  });
  await restrictPublic(superuser, root, port);
}

/**
 * In version 1.0 the application used the superuser's password too. The owner and service roles get new ones, because their
 * files are missing.
 */
async function replaceSuperuserPassword(superuser: pg.Client, root: string): Promise<void> {
  // In this order, one of the two files always holds the valid password.
  const password = (await readPassword(root, "superuser")) ?? createPassword();
  await writePassword(root, "superuser", password);
  await changePassword(superuser, "superuser", password);
  await rm(passwordFile(root, "shared"));
}

async function preparePassword(root: string, role: Role, apply: (password: string) => Promise<void>): Promise<string> {
  const existing = await readPassword(root, role);
  if (existing !== undefined) return existing;
  const password = createPassword();
  await apply(password);
  await writePassword(root, role, password);
  return password;
}

async function createOrChangeRole(
  superuser: pg.Client,
  role: Role,
  attributes: string,
  password: string,
): Promise<void> {
  const found = await superuser.query("SELECT FROM pg_roles WHERE rolname = $1", [roleNames[role]]);
  if (found.rowCount === 0) await superuser.query(`CREATE ROLE ${roleNames[role]} LOGIN ${attributes}`);
  await changePassword(superuser, role, password);
}

async function changePassword(superuser: pg.Client, role: Role, password: string): Promise<void> {
  await superuser.query(`ALTER ROLE ${roleNames[role]} PASSWORD ${superuser.escapeLiteral(password)}`);
}

async function createMissingDatabase(superuser: pg.Client): Promise<void> {
  const found = await superuser.query("SELECT FROM pg_database WHERE datname = $1", [databaseName]);
  if (found.rowCount === 0) await superuser.query(`CREATE DATABASE ${databaseName} OWNER ${roleNames.owner}`);
}

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
    END $$;`;
}

/**
 * PostgreSQL lets every role connect to `postgres` and `template1`. There the service role could create temporary tables,
 * and hold the lock that marks the owner of the cluster. A cluster that is already restricted is not written to.
 */
async function restrictPublic(superuser: pg.Client, root: string, port: number): Promise<void> {
  const open = await superuser.query(
    `SELECT FROM pg_database
     WHERE datname IN ('postgres', 'template1') AND has_database_privilege('public', oid, 'CONNECT, TEMPORARY')`,
  );
  if (open.rowCount === 0) return;
  const password = await readPassword(root, "superuser");
  if (password === undefined) throw new Error("The password file of the superuser was removed");
  // Each database has its own rights on functions. A new one copies those of template1.
  for (const database of ["template1", databaseName]) {
    await execute({ port, role: "superuser", password, database }, revokeLargeObjects);
  }
  // Last, because the query above looks for it.
  await superuser.query(`${revokeLargeObjects}; REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC`);
}

async function execute(options: ConnectOptions, statements: string): Promise<void> {
  const { client } = await connectWithScram(options);
  try {
    await client.query(statements);
  } finally {
    await client.end();
  }
}
