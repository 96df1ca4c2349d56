import type { Database } from "./database.js";
import { type Access, type Query, queryBuilder, type Row, type Statement, withoutNulls } from "./statement.js";

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
