// Express 5 alone: no key, no quota, no validation, no log.
import express from "express";
import pg from "pg";
import { insertSql, listSql } from "../pet-sql.js";

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// pg's default of 10 connections is the default of our services too.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const app = express();

app.get("/v1/pets", async (req, res) => {
  const { rows } = await pool.query(listSql, [req.query.status, req.query.after ?? 0, req.query.limit ?? 20]);
  res.json(rows);
});

app.post("/v1/pets", express.json(), async (req, res) => {
  const { rows } = await pool.query(insertSql, [req.body.name, req.body.categoryId, req.body.status]);
  res.status(201).json(rows[0]);
});

app.listen(Number(process.env.PORT), "127.0.0.1");
