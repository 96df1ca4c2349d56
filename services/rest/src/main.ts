import { runService } from "@petstore/http";
import { createRestRouter } from "./rest-router.js";

await runService(process.env, "petstore-rest", createRestRouter);
