import type { Limits, Log } from "@petstore/core";
import { type Request, type RequestHandler, type Response, Router } from "express";
import { createAddressLimit } from "./address-limit.js";
import type { Admission } from "./admission.js";
import { acceptedType, jsonMediaType } from "./json-response.js";
import { answerProblems } from "./problem-response.js";
import { contextOf } from "./request-context.js";
import type { StaticFile } from "./static-file.js";

export type ServeStaticFiles = (files: readonly StaticFile[]) => RequestHandler;

/** The page at this path is the response to a browser for an unknown path. */
const notFoundPath = "/404";

export interface StaticFileServer {
  readonly serveStaticFiles: ServeStaticFiles;
  /** Comes after all routes. Only browsers get the page. */
  readonly serveNotFoundPage: RequestHandler;
}

/** One page loads about 15 files. The day limit is never reached: 600 a minute is 864,000 a day. */
const filesPerAddress: Limits = { perMinute: 600, perDay: 1_000_000 };

/** Static files need no key and cost no units. An address is counted before it gets a file. */
export function createStaticFileServer(
  admission: Pick<Admission, "reportAddressQuota" | "refund">,
  log: Log,
  now: () => number,
): StaticFileServer {
  const message = `An address may load ${filesPerAddress.perMinute} files a minute.`;
  const countFile = createAddressLimit(admission, filesPerAddress, message, now);
  let notFoundPage: StaticFile | undefined;

  async function serveFile(file: StaticFile, req: Request, res: Response): Promise<void> {
    // One route for all files: each route adds at least 17 series to the metrics.
    contextOf(res).route = "static";
    await countFile(res);
    sendFile(file, req, res);
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

/** Express handles HEAD, and sends 304 if the client has the current version. */
function sendFile({ headers, content, compressedForms }: StaticFile, req: Request, res: Response): void {
  res.setHeaders(headers);
  const form = compressedForms.find(({ encoding }) => req.acceptsEncodings(encoding) !== false);
  // A 304 describes no content (RFC 9110 section 15.4.5).
  if (form !== undefined && !req.fresh) res.setHeader("Content-Encoding", form.encoding);
  res.send(form?.content ?? content);
}
