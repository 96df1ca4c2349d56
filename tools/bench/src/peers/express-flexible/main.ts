// Express 5 with a key check and both windows of rate-limiter-flexible, joined as its guide joins them.
import express from "express";
import { Redis } from "ioredis";
import pg from "pg";
import { RateLimiterRedis, RateLimiterUnion } from "rate-limiter-flexible";
import { createFindAccount } from "../find-account.js";
import { createPet, readLinkedPage } from "../pet-sql.js";

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const storeClient = new Redis(process.env.REDIS_URL ?? "");
const points = 2_147_483_647;
const union = new RateLimiterUnion(
  new RateLimiterRedis({ storeClient, keyPrefix: "minute", points, duration: 60 }),
  new RateLimiterRedis({ storeClient, keyPrefix: "day", points, duration: 86_400 }),
);
const findAccount = createFindAccount(pool);
const app = express();

app.use(async (req, res, next) => {
  const account = await findAccount(req.headers.authorization);
  if (account === undefined) return void res.sendStatus(401);
  const { minute } = await union.consume(account);
  if (minute === undefined) throw new Error("the minute's limiter did not answer");
  res.set({
    "X-RateLimit-Limit": `${points}`,
    "X-RateLimit-Remaining": `${minute.remainingPoints}`,
    "X-RateLimit-Reset": `${Math.ceil((Date.now() + minute.msBeforeNext) / 1000)}`,
  });
  next();
});

app.get("/v1/pets", async (req, res) => {
  const { pets, link } = await readLinkedPage(pool, req.query);
  if (link !== undefined) res.set("Link", link);
  res.json(pets);
});

app.post("/v1/pets", express.json(), async (req, res) => {
  res.status(201).json(await createPet(pool, req.body));
});

app.listen(Number(process.env.PORT), "127.0.0.1");
