import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { jsonMediaType } from "../server/media-types.js";

/** A file that is served from memory. */
export interface StaticFile {
  /** The path of its URL. */
  readonly path: string;
  readonly content: Buffer;
  /** The preferred form comes first. */
  readonly compressedForms: readonly CompressedForm[];
  readonly headers: Readonly<Record<string, string>>;
}

interface CompressedForm {
  readonly encoding: "br" | "gzip";
  readonly content: Buffer;
}

/** The encodings of compressed files, by extension. The preferred one comes first. */
const encodings = { ".br": "br", ".gz": "gzip" } as const;

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".graphql": "text/plain; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/vnd.microsoft.icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": jsonMediaType,
  ".linkset": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  ".md": "text/markdown; charset=utf-8",
  ".svg": "image/svg+xml",
  ".tgz": "application/gzip",
  ".txt": "text/plain; charset=utf-8",
  ".yaml": "application/yaml; charset=utf-8",
};

/** A page may load and call only its own origin, and nothing inline runs. */
const strictPolicy: string = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/**
 * Reads all files of a folder and its folders. `index.html` is served at `/`, `usage.html` at `/usage`, `api-catalog.linkset`
 * at `/api-catalog`, and any other file at its own name. `usage.html.br` and `usage.html.gz` are compressed forms of
 * `usage.html`. `contentSecurityPolicies` are for the paths that need more than the default policy.
 */
export function readStaticFolder(
  folder: URL,
  contentSecurityPolicies: Readonly<Record<string, string>> = {},
): readonly StaticFile[] {
  const root = fileURLToPath(folder);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = new Map(paths.map((path) => [relative(root, path).replaceAll(sep, "/"), readFileSync(path)]));
  const files: StaticFile[] = [];
  for (const [name, content] of contents) {
    if (extname(name) in encodings) continue;
    const compressedForms = Object.entries(encodings).flatMap(([extension, encoding]) => {
      const form = contents.get(name + extension);
      return form === undefined ? [] : [{ encoding, content: form }];
    });
    const path = urlPathOf(name);
    const headers = headersOf(extname(name), content, contentSecurityPolicies[path]);
    files.push({ path, content, compressedForms, headers });
  }
  return files;
}

function urlPathOf(fileName: string): string {
  return fileName === "index.html" ? "/" : `/${fileName.replace(/\.(html|linkset)$/, "")}`;
}

/** A file whose text is known only when the service starts. */
export function createStaticFile(path: string, text: string): StaticFile {
  const content = Buffer.from(text);
  // The default quality, 11, would delay the start by 30 ms for each file of 40 KiB.
  const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const compressedForms: readonly CompressedForm[] = [
    { encoding: "br", content: brotliCompressSync(content, brotliOptions) },
    { encoding: "gzip", content: gzipSync(content, { level: 9 }) },
  ];
  return { path, content, compressedForms, headers: headersOf(extname(path), content) };
}

function headersOf(extension: string, content: Buffer, contentSecurityPolicy = strictPolicy): StaticFile["headers"] {
  const mediaType = mediaTypes[extension];
  if (mediaType === undefined) throw new Error(`the media type of *${extension} is unknown`);
  const digest = createHash("sha256").update(content).digest("base64url");
  return {
    "Content-Type": mediaType,
    // The browser revalidates each file (RFC 9110 section 13.1.2), so a new page never loads an old script.
    "Cache-Control": "no-cache",
    // A weak tag, because the compressed forms have other bytes and the same meaning.
    ETag: `W/"${digest.slice(0, 22)}"`,
    Vary: "Accept-Encoding",
    "Content-Security-Policy": contentSecurityPolicy,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    // RFC 9727 section 2: the response to HEAD has this link. GET has the same headers.
    ...(extension === ".linkset" && { Link: '</.well-known/api-catalog>; rel="api-catalog"' }),
  };
}
