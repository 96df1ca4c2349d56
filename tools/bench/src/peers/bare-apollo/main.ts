// Apollo Server with type-graphql, as their guides write it: no key, no quota, no log.
import "reflect-metadata";
import { ApolloServer } from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { expressMiddleware } from "@as-integrations/express5";
import express from "express";
import pg from "pg";
import {
  Arg,
  buildSchema,
  Ctx,
  Field,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  registerEnumType,
} from "type-graphql";
import { createPet, listPets } from "../pet-sql.js";

const petStatus = { available: "available", pending: "pending", sold: "sold" };
registerEnumType(petStatus, { name: "PetStatus" });

@ObjectType()
class Pet {
  @Field(() => ID)
  readonly id!: string;

  @Field(() => String)
  readonly name!: string;

  @Field(() => ID)
  readonly categoryId!: string;

  @Field(() => petStatus)
  readonly status!: string;
}

@InputType()
class NewPet {
  @Field(() => String)
  readonly name!: string;

  @Field(() => ID)
  readonly categoryId!: string;

  @Field(() => petStatus, { defaultValue: "available" })
  readonly status!: string;
}

interface Context {
  readonly pool: pg.Pool;
}

@Resolver()
class PetResolver {
  @Query(() => [Pet])
  async pets(
    @Ctx() { pool }: Context,
    @Arg("limit", () => Int, { defaultValue: 20 }) limit: number,
    @Arg("status", () => petStatus, { nullable: true }) status?: string,
    @Arg("cursor", () => String, { nullable: true }) cursor?: string,
  ): Promise<Pet[]> {
    return listPets(pool, { status, limit, cursor });
  }

  @Mutation(() => Pet)
  async createPet(@Ctx() { pool }: Context, @Arg("input", () => NewPet) input: NewPet): Promise<Pet | undefined> {
    return createPet(pool, input);
  }
}

// Our services have as many connections. int8 arrives as text, which is what ID wants.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const schema = await buildSchema({ resolvers: [PetResolver], validate: false });
const server = new ApolloServer({ schema, plugins: [ApolloServerPluginLandingPageDisabled()] });
await server.start();

const app = express();
app.use("/graphql", express.json(), expressMiddleware(server, { context: async () => ({ pool }) }));
app.listen(Number(process.env.PORT), "127.0.0.1");
