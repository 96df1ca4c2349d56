// PostGraphile, which makes its schema from the database's own: no key, no quota, no log.
import { createServer } from "node:http";
import pg from "pg";
import { postgraphile } from "postgraphile";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const handler = postgraphile(pool, "public", { disableQueryLog: true, dynamicJson: true });
createServer(handler).listen(Number(process.env.PORT), "127.0.0.1");
