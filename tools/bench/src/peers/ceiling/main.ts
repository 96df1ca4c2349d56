// The least a list with a key and two windows can cost: no framework, a named statement whose answer is JSON already,
// and one script call that counts.
import { createServer } from "node:http";
import { Redis } from "ioredis";
import pg from "pg";
import { openTwoCounters } from "../../two-counters.js";
import { createFindAccount } from "../find-account.js";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const redis = new Redis(process.env.REDIS_URL ?? "", { enableAutoPipelining: false });
const findAccount = createFindAccount(pool);
const limit = 2_147_483_647;
const count = await openTwoCounters(redis, "");

const list = {
  name: "list",
  text: `select coalesce(json_agg(page), '[]')::text as json from (
    select id, name, category_id as "categoryId", status from pets
    where (status, id) > ($1, $2) and status <= $1 order by status, id limit $3) page`,
};

createServer(async (req, res) => {
  const account = await findAccount(req.headers.authorization);
  if (account === undefined) {
    res.writeHead(401).end();
    return;
  }
  const { minute, resetInMs } = await count(account);
  const query = new URLSearchParams(req.url?.slice(req.url.indexOf("?")));
  const { rows } = await pool.query<{ json: string }>({
    ...list,
    values: [query.get("status"), query.get("after") ?? 0, query.get("limit") ?? 20],
  });
  res.writeHead(200, {
    "Content-Type": "application/json",
    "X-RateLimit-Limit": limit,
    "X-RateLimit-Remaining": limit - minute,
    "X-RateLimit-Reset": Math.ceil((Date.now() + resetInMs) / 1000),
  });
  res.end(rows[0]?.json);
}).listen(Number(process.env.PORT), "127.0.0.1");
