import type { Admission, Limits } from "@petstore/core";
import { jsonMediaType } from "../server/media-types.js";
import { createAddressLimit } from "./address-limit.js";
import type { HttpRequest } from "./http-request.js";
import type { Answer, Reply } from "./reply.js";
import type { StaticFile } from "./static-file.js";

/** The page at this path is the response to a browser for an unknown path. */
const notFoundPath = "/404";

/** Returns the function that answers with a file; `undefined` if no file is the answer. */
export type FindFile = (request: HttpRequest) => (() => Promise<Answer>) | undefined;

/** One page loads about 15 files. The day limit is never reached: 600 a minute is 864,000 a day. */
const filesPerAddress: Limits = { perMinute: 600, perDay: 1_000_000 };

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

  return (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const file = filesByPath.get(request.path);
    if (file !== undefined) return () => count(request, () => fileReply(file, request));
    const target = redirects.get(request.path);
    if (target !== undefined) return () => count(request, () => redirectReply(request, target));
    if (notFoundPage === undefined || !isFromBrowser(request)) return undefined;
    return () =>
      count(request, () => ({ ...fileReply(notFoundPage, request), status: 404, problemCode: "ROUTE_NOT_FOUND" }));
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

/** `write-reply.ts` sends 304 if the client has the current version. */
function fileReply({ headers, content, compressedForms }: StaticFile, request: HttpRequest): Reply {
  const form = compressedForms.find(({ encoding }) => request.acceptsEncoding(encoding));
  if (form === undefined) return { status: 200, headers, body: content };
  return { status: 200, headers: { ...headers, "Content-Encoding": form.encoding }, body: form.content };
}
