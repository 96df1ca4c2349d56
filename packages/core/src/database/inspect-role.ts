import { Client } from "pg";

/** The rights of a connection's role, beyond reading and writing rows. */
export interface RoleFacts {
  readonly name: string;
  readonly isSuperuser: boolean;
  /** It may create roles or databases. */
  readonly isAdministrator: boolean;
  /** It may create tables, or owns existing ones and may alter and drop them. */
  readonly canChangeTables: boolean;
}

export interface InspectRoleOptions {
  readonly url: string;
  readonly timeoutMs: number;
}

/** Rejects with what pg rejects with when the database cannot be asked. */
export async function inspectRole({ url, timeoutMs }: InspectRoleOptions): Promise<RoleFacts> {
  const client = new Client({
    connectionString: url,
    application_name: "petstore-doctor",
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // The statement that is in flight reports the fault.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<RoleRow>(roleQuery);
    const [row] = rows;
    if (row === undefined) throw new Error("the database told nothing about the role");
    return {
      name: row.name,
      isSuperuser: row.is_superuser,
      isAdministrator: row.is_administrator,
      canChangeTables: row.can_change_tables,
    };
  } finally {
    await client.end().catch(() => {});
  }
}

interface RoleRow {
  name: string;
  is_superuser: boolean;
  is_administrator: boolean;
  can_change_tables: boolean;
}

/** `pg_has_role` also sees what the role inherits. */
const roleQuery = `
  select rolname as name, rolsuper as is_superuser, rolcreaterole or rolcreatedb as is_administrator,
    coalesce(has_schema_privilege(current_schema(), 'create'), false)
      or exists (select from pg_class
                 where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
                   and pg_has_role(relowner, 'usage')) as can_change_tables
  from pg_roles where rolname = current_user`;
