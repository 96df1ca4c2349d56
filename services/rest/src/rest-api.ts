import type { Api, ApiDeps } from "@petstore/http";
import { createPetRoutes } from "./pet-routes.js";
import { readRestFiles } from "./static-files.js";

/** The REST API at `/v1`, and its description and pages, which need no key and cost nothing. */
export function createRestApi(deps: ApiDeps): Api {
  return { resources: createPetRoutes(deps), files: readRestFiles(deps) };
}
