import type { Database } from "./database.js";
import { type Access, type Query, queryBuilder, type Statement } from "./statement.js";

/** A record as PostgreSQL returns it: an absent field is null. */
export type Row<Fields> = { [Name in keyof Fields]-?: Fields[Name] | null };

export function withoutNulls<Fields>(row: Row<Fields>): Fields {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Fields;
}

/** Runs a rare query, without a prepared statement. */
export async function runUnprepared<Fields>(
  database: Pick<Database, "run">,
  access: Access,
  query: Query<Row<Fields>>,
): Promise<Fields[]> {
  const { sql: text, parameters } = query.compile(queryBuilder);
  const statement: Statement<unknown, Row<Fields>> = { access, name: "", text, bind: () => [...parameters] };
  return (await database.run(statement, {})).map((row) => withoutNulls(row));
}
