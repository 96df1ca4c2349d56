// Express 5 alone: no key, no quota, no validation, no log.
import express from "express";
import pg from "pg";
import { createPet, readLinkedPage } from "../pet-sql.js";

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// Our services have as many connections.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const app = express();

app.get("/v1/pets", async (req, res) => {
  const { pets, link } = await readLinkedPage(pool, req.query);
  if (link !== undefined) res.set("Link", link);
  res.json(pets);
});

app.post("/v1/pets", express.json(), async (req, res) => {
  res.status(201).json(await createPet(pool, req.body));
});

app.listen(Number(process.env.PORT), "127.0.0.1");
