import type { HttpConfig } from "@petstore/core";
import { createStaticFile, readStaticFolder, type StaticFile } from "@petstore/http";
import { openApi30Json, openApiJson, openApiYaml } from "./openapi-document.js";

/** The pages, the guides and the client, as `build-files.mjs` wrote them, and the OpenAPI document. */
export function readRestFiles(config: Pick<HttpConfig, "publicUrl" | "stagingUrl">): readonly StaticFile[] {
  return [
    createStaticFile("/openapi.json", openApiJson(config)),
    createStaticFile("/openapi.yaml", openApiYaml(config)),
    createStaticFile("/openapi-3.0.json", openApi30Json(config)),
    ...readStaticFolder(new URL("../dist/site/", import.meta.url)),
  ];
}
