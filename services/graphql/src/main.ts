import { runService } from "@petstore/http";
import { createGraphqlApi } from "./graphql-api.js";

await runService(process.env, "petstore-graphql", createGraphqlApi);
