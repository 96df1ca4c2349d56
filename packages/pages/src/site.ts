import { readdir, readFile, rm } from "node:fs/promises";
import { writeCompressedFile } from "./compressed-file.js";
import { type Page, renderPage } from "./frame.js";
import { errorCodesOf, guidePage, imagesOf, readGuides, servedMarkdown } from "./guides.js";
import { notFoundPage } from "./not-found-page.js";

export interface Site {
  readonly pages: readonly Page[];
  /** The folders with the guides, by their paths from the root of the repository. */
  readonly guides: Readonly<Record<string, URL>>;
  /** Further files, by name. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
}

type NamedFile = readonly [name: string, content: string | Buffer];

/**
 * Empties the folder, and writes the files that a service serves: its pages, its guides as pages and as Markdown with their
 * images, the page for unknown paths, and the scripts, style sheets and icons that the pages load. `index.html` is the page
 * at `/`, and `usage.html` is the page at `/usage`. Each file has its compressed forms beside it.
 */
export async function writeSite(folder: URL, { pages, guides: guideFolders, files = {} }: Site): Promise<void> {
  const guides = Object.entries(guideFolders).flatMap(([name, url]) => readGuides(name, url));
  const codes = errorCodesOf(guides);
  const allPages = [...pages, ...guides.map((guide) => guidePage(guide, codes)), notFoundPage];
  const all: readonly NamedFile[] = [
    ...allPages.map((page): NamedFile => [pageFileName(page), renderPage(page)]),
    ...guides.map((guide): NamedFile => [`${guide.path.slice(1)}.md`, servedMarkdown(guide)]),
    ...guides.flatMap(imagesOf).map(([path, content]): NamedFile => [path.slice(1), content]),
    ...(await readAssets(new URL("../browser/", import.meta.url))),
    // The compiled scripts are in `dist`.
    ...(await readAssets(new URL("./browser/", import.meta.url))),
    // Browsers ask for this path where a response has no page, such as JSON.
    ["favicon.ico", await readFile(new URL("../browser/favicon.ico", import.meta.url))],
    ...Object.entries(files),
  ];
  await rm(folder, { recursive: true, force: true });
  await Promise.all(all.map(([name, content]) => writeCompressedFile(new URL(name, folder), content)));
}

function pageFileName({ path }: Page): string {
  return path === "/" ? "index.html" : `${path.slice(1)}.html`;
}

/** The style sheets, scripts and icons in this folder. */
async function readAssets(folder: URL): Promise<readonly NamedFile[]> {
  const names = (await readdir(folder)).filter((name) => /\.(css|js|svg)$/.test(name));
  return Promise.all(
    names.map(async (name): Promise<NamedFile> => [`pages/${name}`, await readFile(new URL(name, folder))]),
  );
}
