import type { Document } from "@petstore/http";
import { errorsGuide, framed, guideDocuments, type Links, type Page, pageAssets, readGuides } from "@petstore/pages";
import { referenceMain } from "./reference-page.js";
import { usageMain } from "./usage-page.js";

const beforeOthers = [
  { path: "/", title: "Reference" },
  { path: "/usage", title: "Usage" },
];
const afterOthers = [
  { path: "/openapi.json", title: "OpenAPI JSON" },
  { path: "/openapi.yaml", title: "OpenAPI YAML" },
];

/** What the REST door has to read, and what another door has that is open on the same port. */
export function restLinks(other: Links = { pages: [], guides: [] }): Links {
  const directory = new URL("../../docs/", import.meta.url);
  const [quickstart, ...more] = readGuides({
    directory,
    folder: "services/rest/docs",
    path: "/docs",
    names: ["quickstart", "limits", "get-pet-removal"],
  });
  const errors = errorsGuide();
  const others = other.guides.filter(({ path }) => path !== errors.path);
  return {
    pages: [...beforeOthers, ...other.pages, ...afterOthers],
    guides: [...(quickstart ? [quickstart] : []), ...others, ...more, errors],
  };
}

/** Everything people read: the reference, usage, the guides, and what these pages load. */
export function pages(links: Links): readonly Document[] {
  const written: readonly Page[] = [
    { path: "/", title: "Reference", main: referenceMain(), styles: ["reference"], module: "reference" },
    { path: "/usage", title: "Usage", main: usageMain(), styles: ["reference", "usage"], module: "usage" },
  ];
  return [
    ...written.map((page) => ({
      path: page.path,
      mediaType: "text/html; charset=utf-8",
      content: framed(page, links),
    })),
    ...guideDocuments(links),
    ...pageAssets(),
  ];
}
