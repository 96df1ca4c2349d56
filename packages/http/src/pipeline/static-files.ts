import { createHash } from "node:crypto";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Admission, Limits } from "@petstore/core";
import { LRUCache } from "lru-cache";
import { jsonMediaType } from "../server/media-types.js";
import { createAddressLimit } from "./address-limit.js";
import type { HttpRequest } from "./http-request.js";
import type { Answer, Reply } from "./reply.js";

export interface StaticFile {
  /** Its extension decides the media type. A page has none. */
  readonly path: string;
  /** A function is called at the first request, so that the service starts without rendering pages. */
  readonly content: string | Buffer | (() => string | Buffer);
  /** Only for a page that needs more than `strictPolicy`. */
  readonly contentSecurityPolicy?: string;
}

/** The page at this path is the response to a browser for an unknown path. */
export const notFoundPath = "/404";

/** Returns the function that answers with a file; `undefined` if no file is the answer. */
export type FindFile = (request: HttpRequest) => (() => Promise<Answer>) | undefined;

const mediaTypes: Readonly<Record<string, string>> = {
  "": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".graphql": "text/plain; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": jsonMediaType,
  ".md": "text/markdown; charset=utf-8",
  ".svg": "image/svg+xml",
  ".tgz": "application/gzip",
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

/** One page loads about 15 files. The day limit is never reached: 600 a minute is 864,000 a day. */
const filesPerAddress: Limits = { perMinute: 600, perDay: 1_000_000 };
/** More than there are. */
const maxFiles = 1_000;

/**
 * Static files need no key and cost no units. If two have one path, the first is served. `redirects` are the paths of files, by
 * the paths that lead to them if no file has these.
 */
export function createStaticFiles(
  admission: Pick<Admission, "addressUsage">,
  files: readonly StaticFile[],
  redirects: ReadonlyMap<string, string>,
  now: () => number,
): FindFile {
  const message = `An address may load ${filesPerAddress.perMinute} files a minute.`;
  const count = createAddressLimit(admission, filesPerAddress, message, now);
  const filesByPath = new Map([...files].reverse().map((file) => [file.path, file]));
  const notFoundPage = filesByPath.get(notFoundPath);
  filesByPath.delete(notFoundPath);

  // Simultaneous requests wait for the same compression: a large script takes 30 ms. After a failure, the next request
  // tries again.
  const prepared = new LRUCache<StaticFile, PreparedFile>({ max: maxFiles, fetchMethod: prepare });

  async function serve(file: StaticFile, request: HttpRequest): Promise<Reply> {
    return fileReply(await prepared.forceFetch(file), request);
  }

  async function redirect(request: HttpRequest, to: string): Promise<Answer> {
    return { reply: redirectReply(request, to), quota: await admission.addressUsage(request.addressBucket) };
  }

  return (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const file = filesByPath.get(request.path);
    if (file !== undefined) return () => count(request, () => serve(file, request));
    const target = redirects.get(request.path);
    if (target !== undefined) return () => redirect(request, target);
    if (notFoundPage === undefined || !isFromBrowser(request)) return undefined;
    return () =>
      count(request, async () => ({
        ...(await serve(notFoundPage, request)),
        status: 404,
        problemCode: "ROUTE_NOT_FOUND",
      }));
  };
}

/** A browser prefers HTML to JSON and sends no key. The paths of the APIs are for programs only. */
function isFromBrowser(request: HttpRequest): boolean {
  const isApi = /^\/(v1|graphql)(\/|$)/.test(request.path);
  const prefersHtml = request.accepts([jsonMediaType, "text/html"]) === "text/html";
  return !isApi && prefersHtml && request.headers.authorization === undefined;
}

/** The body is for a client that does not follow the redirect (RFC 9110 section 15.4). */
function redirectReply(request: HttpRequest, to: string): Reply {
  const texts: Readonly<Record<string, string>> = {
    "text/plain": `Found. Redirecting to ${to}`,
    "text/html": `<!DOCTYPE html><head><title>Found</title></head><body><p>Found. Redirecting to ${to}</p></body>`,
  };
  const type = request.accepts(Object.keys(texts));
  const headers = {
    Location: to,
    Vary: "Accept",
    ...(type !== undefined && { "Content-Type": `${type}; charset=utf-8` }),
  };
  return { status: 302, headers, body: type === undefined ? "" : (texts[type] ?? "") };
}

interface PreparedFile {
  readonly bytes: Buffer;
  /** Absent if compression does not make the file shorter. */
  readonly compressed: Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

async function prepare(file: StaticFile): Promise<PreparedFile> {
  const { path, content, contentSecurityPolicy = strictPolicy } = file;
  const mediaType = mediaTypes[extname(path)];
  if (mediaType === undefined) throw new Error(`the media type of ${path} is unknown`);
  const bytes = Buffer.from(typeof content === "function" ? content() : content);
  const compressed = await promisify(gzip)(bytes, { level: 9 });
  const headers = {
    "Content-Type": mediaType,
    // The browser revalidates each file (RFC 9110 section 13.1.2), so a new page never loads an old script.
    "Cache-Control": "no-cache",
    // A weak tag, because the compressed form has other bytes and the same meaning.
    ETag: `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    Vary: "Accept-Encoding",
    "Content-Security-Policy": contentSecurityPolicy,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
  };
  return { bytes, compressed: compressed.length < bytes.length ? compressed : undefined, headers };
}

/** `write-reply.ts` sends 304 if the client has the current version. */
function fileReply({ headers, compressed, bytes }: PreparedFile, request: HttpRequest): Reply {
  if (compressed === undefined || !request.acceptsGzip()) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, "Content-Encoding": "gzip" }, body: compressed };
}
