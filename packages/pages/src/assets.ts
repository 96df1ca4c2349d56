import { readdirSync, readFileSync } from "node:fs";
import type { StaticFile } from "@petstore/http";

const mediaTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

/** The style sheets, the icon and the compiled scripts of the pages. */
export function pageAssets(): readonly StaticFile[] {
  return [
    ...readAssets("../browser/", "css", "/pages"),
    ...readAssets("../browser/", "svg", "/pages"),
    ...readAssets("./browser/", "js", "/pages"),
  ];
}

/** GraphiQL and its dependencies, unchanged from their npm packages. */
export function vendoredAssets(): readonly StaticFile[] {
  return [
    ...readAssets("./vendored/", "css", "/pages/vendored"),
    ...readAssets("./vendored/", "js", "/pages/vendored"),
  ];
}

function readAssets(folder: string, extension: keyof typeof mediaTypes, path: string): StaticFile[] {
  const directory = new URL(folder, import.meta.url);
  return readdirSync(directory)
    .filter((name) => name.endsWith(`.${extension}`))
    .map((name) => ({
      path: `${path}/${name}`,
      mediaType: mediaTypes[extension],
      content: readFileSync(new URL(name, directory)),
    }));
}
