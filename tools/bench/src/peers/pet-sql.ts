import type { Pool, QueryResultRow } from "pg";
import { cursorAfter, idOfCursor } from "../cursor.js";

/** The parameters of a list request, as a query string or variables have them. */
export interface ListParameters {
  readonly status?: string | null | undefined;
  readonly limit?: string | number | undefined;
  readonly cursor?: string | null | undefined;
}

export interface CreateParameters {
  readonly name: string;
  readonly categoryId: string | number;
  readonly status: string;
}

const columns = `id, name, category_id as "categoryId", status`;

/** The SQL of every peer, as text: the same as our services send for a page that they do not keep. */
export const listSql: string = `select ${columns} from pets where id > $1 order by id limit $2`;
export const listByStatusSql: string = `select ${columns} from pets
  where (status, id) > ($3, $1) and status <= $3 order by status, id limit $2`;
export const insertSql: string = `insert into pets (name, category_id, status) values ($1, $2, $3) returning ${columns}`;

export async function listPets<Row extends QueryResultRow>(
  pool: Pool,
  { status, limit = 20, cursor }: ListParameters,
): Promise<Row[]> {
  const after = idOfCursor(cursor);
  const { rows } = status
    ? await pool.query<Row>(listByStatusSql, [after, limit, status])
    : await pool.query<Row>(listSql, [after, limit]);
  return rows;
}

export interface LinkedPage<Row> {
  readonly pets: readonly Row[];
  /** The value of the Link header, on every page but the last. */
  readonly link: string | undefined;
}

/** A page with the link to the next one. It reads one pet more than the page has, as our service does. */
export async function readLinkedPage<Row extends QueryResultRow & { readonly id: number }>(
  pool: Pool,
  parameters: ListParameters,
): Promise<LinkedPage<Row>> {
  const limit = Number(parameters.limit ?? 20);
  const found = await listPets<Row>(pool, { ...parameters, limit: limit + 1 });
  const pets = found.slice(0, limit);
  const last = found.length > limit ? pets.at(-1) : undefined;
  return { pets, link: last && nextLink(parameters, last.id) };
}

export function nextLink({ status, limit }: ListParameters, lastId: number): string {
  const filter = status ? `status=${status}&` : "";
  return `</v1/pets?${filter}limit=${limit ?? 20}&cursor=${cursorAfter(lastId)}>; rel="next"`;
}

export async function createPet<Row extends QueryResultRow>(
  pool: Pool,
  { name, categoryId, status }: CreateParameters,
): Promise<Row | undefined> {
  return (await pool.query<Row>(insertSql, [name, categoryId, status])).rows[0];
}
