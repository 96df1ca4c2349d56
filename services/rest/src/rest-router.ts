import type { RouterDeps } from "@petstore/http";
import type { Links } from "@petstore/pages";
import { Router } from "express";
import { openApiDocument, openApiJson, openApiYaml } from "./openapi-document.js";
import { addPetRoutes } from "./pet-routes.js";
import { pages, restLinks } from "./reference/pages.js";

export interface RestRouterDeps extends RouterDeps {
  /** The links on its pages. By default they are the links of this API alone. */
  readonly links?: Links;
}

/** The REST API at `/v1`, and its description and pages, which need no key and cost nothing. */
export function createRestRouter(deps: RestRouterDeps): Router {
  const { serveStaticFiles, config, links = restLinks() } = deps;
  const description = openApiDocument(config);
  const router = Router({ caseSensitive: true, strict: true });
  addPetRoutes(router, { ...deps, origin: config.publicUrl ?? "" });
  router.use(
    serveStaticFiles([
      { path: "/openapi.json", mediaType: "application/json; charset=utf-8", content: openApiJson(description) },
      { path: "/openapi.yaml", mediaType: "application/yaml; charset=utf-8", content: openApiYaml(description) },
      ...pages(links, description),
    ]),
  );
  return router;
}
