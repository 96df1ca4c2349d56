import { type ApiDeps, createStaticFile, readStaticFolder, type StaticFile } from "@petstore/http";
import { openApi30Json, openApiJson, openApiYaml } from "./openapi-document.js";
import { securityTxt } from "./security-txt.js";

/** The pages, the guides and the client, as `build-files.mjs` wrote them, and the files that have settings. */
export function readRestFiles({ config, now }: Pick<ApiDeps, "config" | "now">): readonly StaticFile[] {
  const security = securityTxt(config, now());
  return [
    createStaticFile("/openapi.json", openApiJson(config)),
    createStaticFile("/openapi.yaml", openApiYaml(config)),
    createStaticFile("/openapi-3.0.json", openApi30Json(config)),
    ...(security === undefined ? [] : [createStaticFile("/.well-known/security.txt", security)]),
    ...readStaticFolder(new URL("../dist/site/", import.meta.url)),
  ];
}
