/**
 * Kysely builds the statements of the APIs once, when their modules load, and a request only binds its values. To build the
 * SQL of a list for each request would cost more CPU time than all other work for the list.
 */
import {
  type CompiledQuery,
  Kysely,
  type OperationNodeSource,
  PostgresDialect,
  type QueryResult,
  type RawBuilder,
  sql,
} from "kysely";
import type { Tables } from "./tables.js";

/** SQL, and the name by which people know it. */
export interface NamedSql {
  readonly name: string;
  readonly text: string;
}

/** SQL, and the function that puts its values in order. */
export interface Statement<Values, Row> {
  readonly access: Access;
  /** The name of the prepared statement, and of its calls in traces. Empty: nothing is prepared. */
  readonly name: string;
  readonly text: string;
  bind(values: Values): unknown[];
  /** True if PostgreSQL plans it for its values each time, because a plan for any values could be much slower. */
  readonly isUnprepared?: true;
  /** Never set. `Database.run` takes the type of the rows from this field. */
  readonly row?: Row;
}

/**
 * A `write` runs alone on its connection. A `read` may share its connection with other reads, and may be sent twice. So a
 * `read` must change nothing. In a service it must find a few rows by an index, because other reads wait for it.
 */
export type Access = "write" | "read";

/** A record as PostgreSQL returns it: an absent field is null. */
export type Row<Fields> = { [Name in keyof Fields]-?: Fields[Name] | null };

export interface Query<Row> extends OperationNodeSource {
  compile(compiler: Kysely<Tables>): CompiledQuery;
  /** Never called. Its type makes TypeScript reject a query that lacks a column of `Row`. */
  execute(compiler: Kysely<Tables>): Promise<readonly Row[] | QueryResult<Row>>;
}

/** Marks the place of a named value in the SQL. */
type PlaceholderFor<Values> = <Name extends keyof Values>(name: Name) => RawBuilder<Values[Name]>;

/** A prepared statement with named parameters. */
export function statement<Values, Row>(
  access: Access,
  name: string,
  build: (db: Kysely<Tables>, parameter: PlaceholderFor<Values>) => Query<Row>,
): Statement<Values, Row> {
  const query = build(queryBuilder, (name) => sql`${new Placeholder(name)}`);
  const { sql: text, parameters } = query.compile(queryBuilder);
  return {
    access,
    name,
    text,
    bind: (values) =>
      parameters.map((value) => (value instanceof Placeholder ? values[value.name as keyof Values] : value)),
  };
}

export function withoutNulls<Fields>(row: Row<Fields>): Fields {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Fields;
}

class Placeholder {
  constructor(readonly name: PropertyKey) {}
}

export const queryBuilder: Kysely<Tables> = new Kysely({
  dialect: new PostgresDialect({ pool: () => Promise.reject(new Error("queryBuilder runs no queries")) }),
});
