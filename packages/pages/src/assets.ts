import { readdirSync, readFileSync } from "node:fs";
import type { StaticFile } from "@petstore/http";

const mediaTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

/** The style sheets, the icon and the compiled scripts of the pages. */
export function pageAssets(): readonly StaticFile[] {
  const source = new URL("../browser/", import.meta.url);
  const compiled = new URL("./browser/", import.meta.url);
  return [...readAssets(source, "css"), ...readAssets(source, "svg"), ...readAssets(compiled, "js")];
}

/** GraphiQL and its dependencies, unchanged from their npm packages. */
export function vendoredAssets(): readonly StaticFile[] {
  const vendored = new URL("./vendored/", import.meta.url);
  return [...readAssets(vendored, "css"), ...readAssets(vendored, "js")];
}

function readAssets(directory: URL, extension: keyof typeof mediaTypes): StaticFile[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(`.${extension}`))
    .map((name) => ({
      path: `/pages/${name}`,
      mediaType: mediaTypes[extension],
      content: readFileSync(new URL(name, directory)),
    }));
}
