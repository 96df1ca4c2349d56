import type { StaticFile } from "@petstore/http";
import { errorsGuide, guidePages, type Links, type Page, pageAssets, readGuides, renderPage } from "@petstore/pages";
import type { OpenApiDocument } from "../openapi-document.js";
import { referenceMain } from "./reference-page.js";
import { usageMain } from "./usage-page.js";

const firstPages = [
  { path: "/", title: "Reference" },
  { path: "/usage", title: "Usage" },
];
const lastPages = [
  { path: "/openapi.json", title: "OpenAPI JSON" },
  { path: "/openapi.yaml", title: "OpenAPI YAML" },
];

/** The pages and guides of the REST API, with those of another API on the same port (`additional`). */
export function restLinks(additional: Links = { pages: [], guides: [] }): Links {
  const directory = new URL("../../docs/", import.meta.url);
  const [quickstart, ...more] = readGuides({
    directory,
    folder: "services/rest/docs",
    path: "/docs",
    names: ["quickstart", "limits", "get-pet-removal"],
  });
  const errors = errorsGuide();
  const additionalGuides = additional.guides.filter(({ path }) => path !== errors.path);
  return {
    pages: [...firstPages, ...additional.pages, ...lastPages],
    guides: [...(quickstart ? [quickstart] : []), ...additionalGuides, ...more, errors],
  };
}

/** The reference page, the usage page, the guides, and the files that these pages load. */
export function pages(links: Links, document: OpenApiDocument): readonly StaticFile[] {
  const contents: readonly Page[] = [
    { path: "/", title: "Reference", main: referenceMain(document), styles: ["reference"], module: "reference" },
    { path: "/usage", title: "Usage", main: usageMain(), styles: ["reference", "usage"], module: "usage" },
  ];
  return [
    ...contents.map((page) => ({
      path: page.path,
      mediaType: "text/html; charset=utf-8",
      content: renderPage(page, links),
    })),
    ...guidePages(links),
    ...pageAssets(),
  ];
}
