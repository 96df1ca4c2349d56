import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { RequestHandler } from "express";
import type { Admission } from "./admission.js";
import { exchangeOf } from "./exchange.js";

/** Something to read: a page, a script, a description of the interface. */
export interface Document {
  readonly path: string;
  readonly mediaType: string;
  readonly content: string | Buffer;
  /** Only for a page that needs more than `strictPolicy`. */
  readonly contentSecurityPolicy?: string;
}

/** A page may load and call what its own origin serves, and nothing inline runs. */
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
 * Answers GET and HEAD for each document, without a key and at no cost; the quota of the address is reported as
 * everywhere. Browsers keep what they have and ask whether it is still current (RFC 9110 section 13.1.2), so a deploy
 * never mixes old scripts with new pages.
 */
export function serveDocuments(
  admission: Pick<Admission, "reportAddressQuota">,
  documents: readonly Document[],
): RequestHandler {
  const byPath = new Map(documents.map((document) => [document.path, document]));
  // Packed when it is first asked for: a start need not wait for a megabyte that perhaps nobody reads.
  const ready = new Map<string, Prepared>();
  return async (req, res, next) => {
    const document = byPath.get(req.path);
    if (document === undefined || (req.method !== "GET" && req.method !== "HEAD")) {
      next();
      return;
    }
    const found = ready.get(req.path) ?? prepare(document);
    ready.set(req.path, found);
    exchangeOf(res).route = req.path;
    await admission.reportAddressQuota(req, res);
    for (const [name, value] of found.headers) res.setHeader(name, value);
    if (req.headers["if-none-match"]?.includes(found.tag)) {
      res.statusCode = 304;
      res.end();
      return;
    }
    const isPacked = req.acceptsEncodings("gzip") !== false;
    if (isPacked) res.setHeader("Content-Encoding", "gzip");
    const bytes = isPacked ? found.packed : found.bytes;
    res.setHeader("Content-Length", bytes.length);
    res.end(bytes);
  };
}

interface Prepared {
  readonly bytes: Buffer;
  readonly packed: Buffer;
  readonly tag: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

function prepare({ mediaType, content, contentSecurityPolicy = strictPolicy }: Document): Prepared {
  const bytes = Buffer.from(content);
  // Weak, because the packed form has other bytes and the same meaning.
  const tag = `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return {
    bytes,
    packed: gzipSync(bytes, { level: 9 }),
    tag,
    headers: [
      ["Content-Type", mediaType],
      ["Cache-Control", "no-cache"],
      ["ETag", tag],
      ["Vary", "Accept-Encoding"],
      ["Content-Security-Policy", contentSecurityPolicy],
      ["Cross-Origin-Opener-Policy", "same-origin"],
      ["Referrer-Policy", "no-referrer"],
    ],
  };
}
