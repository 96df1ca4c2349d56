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
  /** It changes nothing, so it may be sent twice, and beside others on one connection. */
  readonly isQuery?: boolean;
  /** It changes nothing, so the limit for reading applies. Absent: as `isQuery`. */
  readonly isReadOnly?: boolean;
  /** Never set: it carries the type of the rows. */
  readonly row?: Row;
}

type Slots<Values> = <Name extends keyof Values>(name: Name) => RawBuilder<Values[Name]>;

type Build<Values, Row> = (db: Kysely<Tables>, slot: Slots<Values>) => Compilable<Row>;

/** A statement that changes something. It has a connection to itself while it runs. */
export function statement<Values, Row>(name: string, build: Build<Values, Row>): Statement<Values, Row> {
  return { ...compile(name, build), isQuery: false, isReadOnly: false };
}

/** A statement that only reads, a few rows by an index. */
export function query<Values, Row>(name: string, build: Build<Values, Row>): Statement<Values, Row> {
  return { ...compile(name, build), isQuery: true, isReadOnly: true };
}

/** A statement that only reads, and has a connection to itself while it runs because it may read many rows. */
export function queryAlone<Values, Row>(name: string, build: Build<Values, Row>): Statement<Values, Row> {
  return { ...compile(name, build), isQuery: false, isReadOnly: true };
}

function compile<Values, Row>(
  name: string,
  build: Build<Values, Row>,
): Pick<Statement<Values, Row>, "name" | "text" | "bind"> {
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
