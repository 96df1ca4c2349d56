/**
 * Kysely writes and types each query once, when the module loads; a request only binds values to it. Building the same
 * query at every request costs more than the rest of a list's handling together.
 */
import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import type { Tables } from "./tables.js";

/** A query with named slots for its values, ready to be sent as a named prepared statement. */
export interface Statement<Values, Row> {
  readonly name: string;
  readonly text: string;
  bind(values: Values): unknown[];
  /** Never set: it carries the type of the rows. */
  readonly row?: Row;
}

type Slots<Values> = <Name extends keyof Values>(name: Name) => RawBuilder<Values[Name]>;

export function statement<Values, Row>(
  name: string,
  build: (db: Kysely<Tables>, slot: Slots<Values>) => Compilable<Row>,
): Statement<Values, Row> {
  const { sql: text, parameters } = build(compiler, (slot) => sql`${new Slot(slot)}`).compile();
  return {
    name,
    text,
    bind: (values) =>
      parameters.map((parameter) => (parameter instanceof Slot ? values[parameter.name as keyof Values] : parameter)),
  };
}

class Slot {
  constructor(readonly name: PropertyKey) {}
}

const compiler = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
