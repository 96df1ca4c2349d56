import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { StaticFile } from "@petstore/http";

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The style sheets, the icon and the compiled scripts of the pages. */
export function pageAssets(): readonly StaticFile[] {
  return [...readAssets("../browser/", "/pages"), ...readAssets("./browser/", "/pages")];
}

/** GraphiQL and its dependencies, unchanged from their npm packages. */
export function vendoredAssets(): readonly StaticFile[] {
  return readAssets("./vendored/", "/pages/vendored");
}

function readAssets(folder: string, path: string): StaticFile[] {
  const directory = new URL(folder, import.meta.url);
  return readdirSync(directory).flatMap((name) => {
    const mediaType = mediaTypes[extname(name)];
    if (mediaType === undefined) return [];
    return { path: `${path}/${name}`, mediaType, content: readFileSync(new URL(name, directory)) };
  });
}
