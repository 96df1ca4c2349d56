// What a list costs in Express 5 alone, as its guide would have it written: no key, no quota, no validation, no log.
import express from "express";
import pg from "pg";

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// pg's default of 10 connections is the default of our services too.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const app = express();

app.get("/v1/pets", async (req, res) => {
  const { rows } = await pool.query(
    `select id, name, category_id as "categoryId", status from pets where status = $1 and id > $2 order by id limit $3`,
    [req.query.status, req.query.after ?? 0, req.query.limit ?? 20],
  );
  res.json(rows);
});

app.listen(Number(process.env.PORT), "127.0.0.1");
