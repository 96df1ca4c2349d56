import { createHash } from "node:crypto";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Limits, Log } from "@petstore/core";
import { type Request, type RequestHandler, type Response, Router } from "express";
import { LRUCache } from "lru-cache";
import { createAddressLimit } from "./address-limit.js";
import type { Admission } from "./admission.js";
import { acceptedType, jsonMediaType } from "./json-response.js";
import { answerProblems } from "./problem-response.js";
import { contextOf } from "./request-context.js";

export interface StaticFile {
  /** Its extension decides the media type. A page has none. */
  readonly path: string;
  /** A function is called at the first request, so that the service starts without rendering pages. */
  readonly content: string | Buffer | (() => string | Buffer);
  /** Only for a page that needs more than `strictPolicy`. */
  readonly contentSecurityPolicy?: string;
}

export type ServeStaticFiles = (files: readonly StaticFile[]) => RequestHandler;

/** The page at this path is the response to a browser for an unknown path. */
export const notFoundPath = "/404";

export interface StaticFileServer {
  readonly serveStaticFiles: ServeStaticFiles;
  /** Comes after all routes. Only browsers get the page. */
  readonly serveNotFoundPage: RequestHandler;
}

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

/** Static files need no key and cost no units. */
export function createStaticFileServer(
  admission: Pick<Admission, "reportAddressQuota" | "refund">,
  log: Log,
  now: () => number,
): StaticFileServer {
  const message = `An address may load ${filesPerAddress.perMinute} files a minute.`;
  const countFile = createAddressLimit(admission, filesPerAddress, message, now);

  // Simultaneous requests wait for the same compression: a large script takes 30 ms. After a failure, the next request
  // tries again.
  const prepared = new LRUCache<StaticFile, PreparedFile>({ max: maxFiles, fetchMethod: prepare });
  let notFoundPage: StaticFile | undefined;

  async function serveFile(file: StaticFile, req: Request, res: Response): Promise<void> {
    // One route for all files: each route adds at least 17 series to the metrics.
    contextOf(res).route = "static";
    await countFile(res);
    send(await prepared.forceFetch(file), req, res);
  }

  return {
    serveStaticFiles(files) {
      const byPath = new Map(files.map((file) => [file.path, file]));
      notFoundPage ??= byPath.get(notFoundPath);
      const serve: RequestHandler = async (req, res, next) => {
        const file = byPath.get(req.path);
        if (file === undefined || file.path === notFoundPath || !isRead(req)) return next();
        await serveFile(file, req, res);
      };
      // The router has its own error handler, so that a refusal has the REST body in both APIs.
      return Router({ caseSensitive: true, strict: true }).use(serve, answerProblems({ admission, log }));
    },
    async serveNotFoundPage(req, res, next) {
      if (notFoundPage === undefined || !isFromBrowser(req)) return next();
      contextOf(res).problemCode = "ROUTE_NOT_FOUND";
      res.statusCode = 404;
      await serveFile(notFoundPage, req, res);
    },
  };
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** A browser prefers HTML to JSON and sends no key. The paths of the APIs are for programs only. */
function isFromBrowser(req: Request): boolean {
  const isApi = /^\/(v1|graphql)(\/|$)/.test(req.path);
  const prefersHtml = acceptedType(req, [jsonMediaType, "text/html"]) === "text/html";
  return isRead(req) && !isApi && prefersHtml && req.headers.authorization === undefined;
}

interface PreparedFile {
  readonly bytes: Buffer;
  /** Absent if compression does not make the file shorter. */
  readonly compressed: Buffer | undefined;
  readonly headers: Map<string, string>;
}

async function prepare(file: StaticFile): Promise<PreparedFile> {
  const { path, content, contentSecurityPolicy = strictPolicy } = file;
  const mediaType = mediaTypes[extname(path)];
  if (mediaType === undefined) throw new Error(`the media type of ${path} is unknown`);
  const bytes = Buffer.from(typeof content === "function" ? content() : content);
  const compressed = await promisify(gzip)(bytes, { level: 9 });
  const headers = new Map([
    ["Content-Type", mediaType],
    // The browser revalidates each file (RFC 9110 section 13.1.2), so a new page never loads an old script.
    ["Cache-Control", "no-cache"],
    // A weak tag, because the compressed form has other bytes and the same meaning.
    ["ETag", `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`],
    ["Vary", "Accept-Encoding"],
    ["Content-Security-Policy", contentSecurityPolicy],
    ["Cross-Origin-Opener-Policy", "same-origin"],
    ["Referrer-Policy", "no-referrer"],
  ]);
  return { bytes, compressed: compressed.length < bytes.length ? compressed : undefined, headers };
}

/** Express handles HEAD, and sends 304 if the client has the current version. */
function send({ headers, compressed, bytes }: PreparedFile, req: Request, res: Response): void {
  res.setHeaders(headers);
  const isCompressed = compressed !== undefined && req.acceptsEncodings("gzip") !== false;
  // A 304 describes no content (RFC 9110 section 15.4.5).
  if (isCompressed && !req.fresh) res.setHeader("Content-Encoding", "gzip");
  res.send(isCompressed ? compressed : bytes);
}
