// Express 5 with a key check and one window of express-rate-limit, shared through rate-limit-redis.
import express from "express";
import { rateLimit } from "express-rate-limit";
import { Redis } from "ioredis";
import pg from "pg";
import { RedisStore } from "rate-limit-redis";
import { createFindAccount } from "../find-account.js";
import { listSql } from "../pet-sql.js";

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const redis = new Redis(process.env.REDIS_URL ?? "");
const findAccount = createFindAccount(pool);
const app = express();

app.use(async (req, res, next) => {
  res.locals.account = await findAccount(req.headers.authorization);
  if (res.locals.account === undefined) res.sendStatus(401);
  else next();
});
app.use(
  rateLimit({
    windowMs: 60_000,
    limit: 2_147_483_647,
    // The one set of headers that ours writes: the newer drafts would also hash the key for each request.
    standardHeaders: false,
    keyGenerator: (_req, res) => res.locals.account,
    store: new RedisStore({
      sendCommand: async (command, ...words) => (await redis.call(command, ...words)) as string | number,
    }),
  }),
);

app.get("/v1/pets", async (req, res) => {
  const { rows } = await pool.query(listSql, [req.query.status, req.query.after ?? 0, req.query.limit ?? 20]);
  res.json(rows);
});

app.listen(Number(process.env.PORT), "127.0.0.1");
