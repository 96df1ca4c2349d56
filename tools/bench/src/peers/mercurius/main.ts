// Mercurius on Fastify, with its compiler for documents: no key, no quota, no log.
import fastify from "fastify";
import mercurius from "mercurius";
import pg from "pg";
import { insertSql, listSql } from "../pet-sql.js";

interface ListArguments {
  readonly limit: number;
  readonly status: string;
}

interface CreateArguments {
  readonly input: { readonly name: string; readonly categoryId: string; readonly status: string };
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const app = fastify();
await app.register(mercurius, {
  jit: 1,
  schema: `
    enum PetStatus { available pending sold }
    type Pet { id: ID! name: String! categoryId: ID! status: PetStatus! }
    input NewPet { name: String! categoryId: ID! status: PetStatus! = available }
    type Query { pets(limit: Int! = 20, status: PetStatus!): [Pet!]! }
    type Mutation { createPet(input: NewPet!): Pet! }
  `,
  resolvers: {
    Query: {
      pets: async (_root: unknown, { status, limit }: ListArguments) =>
        (await pool.query(listSql, [status, 0, limit])).rows,
    },
    Mutation: {
      createPet: async (_root: unknown, { input }: CreateArguments) =>
        (await pool.query(insertSql, [input.name, input.categoryId, input.status])).rows[0],
    },
  },
});

await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
