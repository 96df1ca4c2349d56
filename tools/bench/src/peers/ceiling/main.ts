// The least that a request with a key and two windows can cost: no framework, and one script call that counts.
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Redis } from "ioredis";
import pg from "pg";
import { createFindAccount } from "../find-account.js";
import { type CreateParameters, insertSql, listByStatusSql, listSql } from "../pet-sql.js";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const redis = new Redis(process.env.REDIS_URL ?? "", { enableAutoPipelining: false });
const findAccount = createFindAccount(pool);
const limit = 2_147_483_647;

// One call counts in both windows. It knows neither limits nor bans.
const script = `
local minute = redis.call("INCR", KEYS[1])
if minute == 1 then redis.call("PEXPIRE", KEYS[1], 60000) end
local day = redis.call("INCR", KEYS[2])
if day == 1 then redis.call("PEXPIRE", KEYS[2], 86400000) end
return {minute, day, redis.call("PTTL", KEYS[1])}`;
const sha = `${await redis.script("LOAD", script)}`;

const rest = createApi("rest", "*");
const graphql = createApi("graphql", `id::text, name, "categoryId"::text, status`);

createServer(async (req, res) => {
  const account = await findAccount(req.headers.authorization);
  if (account === undefined) {
    res.writeHead(401).end();
    return;
  }
  const keys = [`{${account}}m`, `{${account}}d`];
  const [minute, , resetInMs] = (await redis.evalsha(sha, 2, ...keys)) as [number, number, number];
  const { status, json } = await answer(req);
  res.writeHead(status, {
    "Content-Type": "application/json",
    "X-RateLimit-Limit": limit,
    "X-RateLimit-Remaining": limit - minute,
    "X-RateLimit-Reset": Math.ceil((Date.now() + resetInMs) / 1000),
  });
  res.end(json);
}).listen(Number(process.env.PORT), "127.0.0.1");

/** A GraphQL document is not parsed: its variables tell which of the two operations it has. */
async function answer(req: IncomingMessage) {
  const url = req.url ?? "";
  if (req.method === "GET") {
    const query = new URLSearchParams(url.slice(url.indexOf("?")));
    return { status: 200, json: await rest.list(query.get("status"), query.get("limit") ?? 20) };
  }
  const body = JSON.parse(await text(req));
  if (url !== "/graphql") return { status: 201, json: await rest.create(body) };
  const { input, status, limit } = body.variables;
  const data =
    input === undefined
      ? `{"pets":${await graphql.list(status, limit)}}`
      : `{"createPet":${await graphql.create(input)}}`;
  return { status: 200, json: `{"data":${data}}` };
}

/** Named statements, whose result is JSON already. */
function createApi(api: string, columns: string) {
  const listAs = (name: string, sql: string) => ({
    name: `${api} ${name}`,
    text: `select coalesce(json_agg(pet), '[]')::text as json from (select ${columns} from (${sql}) page) pet`,
  });
  const list = listAs("list", listSql);
  const listByStatus = listAs("list by status", listByStatusSql);
  const insert = {
    name: `${api} insert`,
    text: `with created as (${insertSql})
      select row_to_json(pet)::text as json from (select ${columns} from created) pet`,
  };
  return {
    list: (status: string | null | undefined, limit: string | number) =>
      status ? queryJson(listByStatus, [status, limit]) : queryJson(list, [limit]),
    create: ({ name, categoryId, status }: CreateParameters) => queryJson(insert, [name, categoryId, status]),
  };
}

async function queryJson(statement: pg.QueryConfig, values: unknown[]): Promise<string> {
  const { rows } = await pool.query<{ json: string }>({ ...statement, values });
  return rows[0]?.json ?? "";
}
