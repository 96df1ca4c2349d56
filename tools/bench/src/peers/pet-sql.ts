import type { Pool, QueryResultRow } from "pg";

/** The parameters of a list request, as a query string or variables have them. */
export interface ListParameters {
  readonly status?: string | null | undefined;
  readonly limit?: string | number | undefined;
}

export interface CreateParameters {
  readonly name: string;
  readonly categoryId: string | number;
  readonly status: string;
}

const columns = `id, name, category_id as "categoryId", status`;

/** The SQL of every peer, as text: the same as our services send. */
export const listSql: string = `select ${columns} from pets order by id limit $1`;
export const listByStatusSql: string = `select ${columns} from pets
  where (status, id) > ($1, 0) and status <= $1 order by status, id limit $2`;
export const insertSql: string = `insert into pets (name, category_id, status) values ($1, $2, $3) returning ${columns}`;

export async function listPets<Row extends QueryResultRow>(
  pool: Pool,
  { status, limit = 20 }: ListParameters,
): Promise<Row[]> {
  const { rows } = status
    ? await pool.query<Row>(listByStatusSql, [status, limit])
    : await pool.query<Row>(listSql, [limit]);
  return rows;
}

export async function createPet<Row extends QueryResultRow>(
  pool: Pool,
  { name, categoryId, status }: CreateParameters,
): Promise<Row | undefined> {
  return (await pool.query<Row>(insertSql, [name, categoryId, status])).rows[0];
}
