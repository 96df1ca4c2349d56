import { readFileSync } from "node:fs";
import type { Api, ApiDeps } from "@petstore/http";
import { type Page, pageFiles } from "@petstore/pages";
import { openApiJson, openApiYaml, readOpenApiDocument } from "./openapi-document.js";
import { createPetRoutes } from "./pet-routes.js";
import { referenceMain } from "./reference/reference-page.js";
import { usageMain } from "./reference/usage-page.js";

/** The REST API at `/v1`, and its description and pages, which need no key and cost nothing. */
export function createRestApi(deps: ApiDeps): Api {
  const { config } = deps;
  const pages: readonly Page[] = [
    { path: "/", title: "Reference", main: () => referenceMain(readOpenApiDocument()), module: "reference" },
    { path: "/usage", title: "Usage", main: usageMain, styles: ["reference"], module: "usage" },
  ];
  return {
    resources: createPetRoutes(deps),
    files: [
      { path: "/openapi.json", content: () => openApiJson(config) },
      { path: "/openapi.yaml", content: () => openApiYaml(config) },
      // The npm package of the client, which the build copies.
      { path: "/petstore-client.tgz", content: readFileSync(new URL("../dist/petstore-client.tgz", import.meta.url)) },
      ...pageFiles(pages, "services/rest/docs", new URL("../docs/", import.meta.url)),
    ],
  };
}
