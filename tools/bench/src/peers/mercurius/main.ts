// Mercurius on Fastify: no key, no quota, no log. After JIT executions it compiles a document; 0 is never.
import fastify from "fastify";
import mercurius from "mercurius";
import pg from "pg";
import { type CreateParameters, createPet, type ListParameters, listPets } from "../pet-sql.js";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const app = fastify();
await app.register(mercurius, {
  jit: Number(process.env.JIT ?? 0),
  schema: `
  enum PetStatus { available pending sold }
  type Pet { id: ID! name: String! categoryId: ID! status: PetStatus! }
  input NewPet { name: String! categoryId: ID! status: PetStatus! = available }
  type Query { pets(limit: Int! = 20, status: PetStatus, cursor: String): [Pet!]! }
  type Mutation { createPet(input: NewPet!): Pet! }
`,
  resolvers: {
    Query: {
      pets: (_root: unknown, parameters: ListParameters) => listPets(pool, parameters),
    },
    Mutation: {
      createPet: (_root: unknown, { input }: { readonly input: CreateParameters }) => createPet(pool, input),
    },
  },
});

await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
