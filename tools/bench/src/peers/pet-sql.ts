// The SQL of every peer: what our own services send, as text.
export const listSql = `select id, name, category_id as "categoryId", status from pets
  where (status, id) > ($1, $2) and status <= $1 order by status, id limit $3`;

export const insertSql = `insert into pets (name, category_id, status) values ($1, $2, $3)
  returning id, name, category_id as "categoryId", status`;
