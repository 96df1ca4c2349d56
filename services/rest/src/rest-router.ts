import { answerProblems, contextOf, errorShape, onRoute, type RouterDeps, routeNotFound } from "@petstore/http";
import type { Links } from "@petstore/pages";
import { Router } from "express";
import { announceRemoval } from "./deprecation.js";
import { openApiDocument } from "./openapi/document.js";
import { openApiJson, openApiYaml } from "./openapi/text.js";
import { addPetRoutes } from "./pet-routes.js";
import { pages, restLinks } from "./reference/pages.js";

export interface RestRouterDeps extends RouterDeps {
  /** What its pages lead to: its own, unless another API is open on the same port. */
  readonly links?: Links;
}

/** The REST API: `/v1`, and what describes it, which needs no key and costs nothing. */
export function createRestRouter(deps: RestRouterDeps): Router {
  const { core, admission, serveDocuments, config, log, now, links = restLinks() } = deps;
  const root = config.publicUrl ?? "";
  const baseUrl = `${root}/v1`;

  const v1 = Router({ caseSensitive: true, strict: true });
  // Not "/pets/:petId": that also matches what lies below, and throws for a path that is no percent-encoded UTF-8, which
  // has to pass admission like any other.
  v1.use(
    /^\/pets\/[^/]+$/,
    onRoute("/v1/pets/{petId}"),
    announceRemoval({ notice: `${root}/docs/get-pet-removal.md`, successor: `${baseUrl}/pets` }),
  );
  // Before admission, so that what is refused there is logged and counted by its route as well.
  v1.use((req, res, next) => {
    if (req.path === "/pets") contextOf(res).route = "/v1/pets";
    next();
  });
  v1.use(admission.admit);
  addPetRoutes(v1, { admission, core, baseUrl, now });
  v1.use(routeNotFound, answerProblems(log, errorShape));

  const description = openApiDocument(config);
  const router = Router({ caseSensitive: true, strict: true });
  router.use("/v1", v1);
  router.use(
    serveDocuments([
      { path: "/openapi.json", mediaType: "application/json; charset=utf-8", content: openApiJson(description) },
      { path: "/openapi.yaml", mediaType: "application/yaml; charset=utf-8", content: openApiYaml(description) },
      ...pages(links),
    ]),
  );
  return router;
}
