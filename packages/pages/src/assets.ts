import { readdirSync, readFileSync } from "node:fs";
import type { Document } from "@petstore/http";

const mediaTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

/** The styles and the icon as they were written, and the scripts as they were built. */
export function pageAssets(): readonly Document[] {
  const written = new URL("../browser/", import.meta.url);
  const built = new URL("./browser/", import.meta.url);
  return [...filesOf(written, "css"), ...filesOf(written, "svg"), ...filesOf(built, "js")];
}

/** GraphiQL and what it needs, as their packages ship them. */
export function vendoredAssets(): readonly Document[] {
  const copied = new URL("./vendored/", import.meta.url);
  return [...filesOf(copied, "css"), ...filesOf(copied, "js")];
}

function filesOf(directory: URL, kind: keyof typeof mediaTypes): Document[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(`.${kind}`))
    .map((name) => ({
      path: `/pages/${name}`,
      mediaType: mediaTypes[kind],
      content: readFileSync(new URL(name, directory)),
    }));
}
