import { runService } from "@petstore/http";
import { createRestApi } from "./rest-api.js";

await runService(process.env, "petstore-rest", createRestApi);
