// The least that a request with a key and two windows can cost: no framework, and one script call that counts.
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Redis } from "ioredis";
import pg from "pg";
import { idOfCursor } from "../../cursor.js";
import { createFindAccount } from "../find-account.js";
import {
  type CreateParameters,
  insertSql,
  type ListParameters,
  listByStatusSql,
  listSql,
  nextLink,
} from "../pet-sql.js";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
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
  const { status, json, link } = await answer(req);
  res.writeHead(status, {
    "Content-Type": "application/json",
    ...(link !== undefined && { Link: link }),
    "X-RateLimit-Limit": limit,
    "X-RateLimit-Remaining": limit - minute,
    "X-RateLimit-Reset": Math.ceil((Date.now() + resetInMs) / 1000),
  });
  res.end(json);
}).listen(Number(process.env.PORT), "127.0.0.1");

interface Answer {
  readonly status: number;
  readonly json: string;
  readonly link?: string | undefined;
}

/** A GraphQL document is not parsed: its variables tell which of the two operations it has. */
async function answer(req: IncomingMessage): Promise<Answer> {
  const url = req.url ?? "";
  if (req.method === "GET") {
    const query = new URLSearchParams(url.slice(url.indexOf("?")));
    const page = { status: query.get("status"), limit: query.get("limit") ?? 20, cursor: query.get("cursor") };
    const { json, last } = await rest.list(page);
    // It links to a next page even from the last one, because it does not look for a further pet.
    return { status: 200, json, link: last === null ? undefined : nextLink(page, last) };
  }
  const body = JSON.parse(await text(req));
  if (url !== "/graphql") return { status: 201, json: await rest.create(body) };
  const { input, ...page } = body.variables;
  const data =
    input === undefined
      ? `{"pets":${(await graphql.list(page)).json}}`
      : `{"createPet":${await graphql.create(input)}}`;
  return { status: 200, json: `{"data":${data}}` };
}

/** Named statements, whose result is JSON already. */
function createApi(api: string, columns: string) {
  const listAs = (name: string, sql: string) => ({
    name: `${api} ${name}`,
    text: `select coalesce(json_agg(pet), '[]')::text as json, max(pet.id::int) as last
      from (select ${columns} from (${sql}) page) pet`,
  });
  const list = listAs("list", listSql);
  const listByStatus = listAs("list by status", listByStatusSql);
  const insert = {
    name: `${api} insert`,
    text: `with created as (${insertSql})
      select row_to_json(pet)::text as json from (select ${columns} from created) pet`,
  };
  return {
    async list({ status, limit, cursor }: ListParameters): Promise<JsonPage> {
      const after = idOfCursor(cursor);
      return status
        ? queryJson({ ...listByStatus, values: [after, limit, status] })
        : queryJson({ ...list, values: [after, limit] });
    },
    async create({ name, categoryId, status }: CreateParameters): Promise<string> {
      return (await queryJson({ ...insert, values: [name, categoryId, status] })).json;
    },
  };
}

interface JsonPage {
  readonly json: string;
  /** The id of the last pet of a page; null without pets. */
  readonly last: number | null;
}

async function queryJson(query: pg.QueryConfig): Promise<JsonPage> {
  const { rows } = await pool.query<JsonPage>(query);
  return rows[0] ?? { json: "", last: null };
}
