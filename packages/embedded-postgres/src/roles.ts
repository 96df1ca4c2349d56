// The roles of a cluster, their rights and their database. All are made with the cluster, before its first start.
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
