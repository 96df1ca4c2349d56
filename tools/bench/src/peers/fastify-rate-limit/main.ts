// Fastify with a key check and one window of @fastify/rate-limit in Redis.
import rateLimit from "@fastify/rate-limit";
import fastify from "fastify";
import { Redis } from "ioredis";
import pg from "pg";
import { createFindAccount } from "../find-account.js";
import { type CreateParameters, createPet, type ListParameters, readLinkedPage } from "../pet-sql.js";

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const findAccount = createFindAccount(pool);
const app = fastify();

await app.register(rateLimit, {
  max: 2_147_483_647,
  timeWindow: 60_000,
  redis: new Redis(process.env.REDIS_URL ?? ""),
  keyGenerator: async (request) => {
    const account = await findAccount(request.headers.authorization);
    if (account === undefined) throw Object.assign(new Error("no such key"), { statusCode: 401 });
    return account;
  },
});

app.get<{ Querystring: ListParameters }>("/v1/pets", async ({ query }, reply) => {
  const { pets, link } = await readLinkedPage(pool, query);
  if (link !== undefined) reply.header("Link", link);
  return pets;
});

app.post<{ Body: CreateParameters }>("/v1/pets", (request, reply) => {
  reply.code(201);
  return createPet(pool, request.body);
});

await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
