// Apollo Server with type-graphql, as their guides write it: no key, no quota, no log.
import "reflect-metadata";
import { ApolloServer } from "@apollo/server";
import { ApolloServerPluginLandingPageDisabled } from "@apollo/server/plugin/disabled";
import { expressMiddleware } from "@as-integrations/express5";
import express from "express";
import pg from "pg";
import { buildSchema } from "type-graphql";
import { PetResolver } from "./pet-resolver.js";

// pg's default of 10 connections is the default of our services too; int8 arrives as text, which is what ID wants.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
const schema = await buildSchema({ resolvers: [PetResolver], validate: false });
const server = new ApolloServer({ schema, plugins: [ApolloServerPluginLandingPageDisabled()] });
await server.start();

const app = express();
app.use("/graphql", express.json(), expressMiddleware(server, { context: async () => ({ pool }) }));
app.listen(Number(process.env.PORT), "127.0.0.1");
