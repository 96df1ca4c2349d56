import { runService } from "@petstore/http";
import { createGraphqlRouter } from "./graphql-router.js";

await runService(process.env, "petstore-graphql", createGraphqlRouter);
