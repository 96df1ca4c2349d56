import type { RouterDeps } from "@petstore/http";
import { Router } from "express";
import { addPetRoutes } from "./pet-routes.js";
import { readRestFiles } from "./static-files.js";

/** The REST API at `/v1`, and its description and pages, which need no key and cost nothing. */
export function createRestRouter(deps: RouterDeps): Router {
  const { serveStaticFiles, config } = deps;
  const router = Router({ caseSensitive: true, strict: true });
  addPetRoutes(router, deps);
  router.use(serveStaticFiles(readRestFiles(config)));
  return router;
}
