/**
 * Kysely builds each statement once, when the module loads; a request only binds its values. Building the statement of a list
 * for every request would cost more CPU time than all other work for the list.
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

/** SQL, and the function that puts its values in order. */
export interface Statement<Values, Row> {
  readonly access: Access;
  /** The name of the prepared statement, and of its calls in traces. Empty: nothing is prepared. */
  readonly name: string;
  readonly text: string;
  bind(values: Values): unknown[];
  /** Never set: it carries the type of the rows. */
  readonly row?: Row;
}

/**
 * A `write` has a connection to itself while it runs. A `read` may share its connection and be sent twice. So it must change
 * nothing and, in a service, find a few rows by an index.
 */
export type Access = "write" | "read";

/** Returns the place in the statement where a value is inserted. */
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

export interface Query<Row> extends OperationNodeSource {
  compile(compiler: Kysely<Tables>): CompiledQuery;
  /** Never called. It is declared for its type: TypeScript rejects a query that lacks a column of `Row`. */
  execute(compiler: Kysely<Tables>): Promise<readonly Row[] | QueryResult<Row>>;
}

class Placeholder {
  constructor(readonly name: PropertyKey) {}
}

/** Builds queries, and runs none. */
export const queryBuilder: Kysely<Tables> = new Kysely({
  dialect: new PostgresDialect({ pool: () => Promise.reject(new Error("queryBuilder runs no queries")) }),
});
