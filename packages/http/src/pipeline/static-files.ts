import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { createLocalQuota, type Limits, type Log, Problem, retryAfterSeconds } from "@petstore/core";
import { type Request, type RequestHandler, type Response, Router } from "express";
import type { Admission } from "./admission.js";
import { addressBucket, clientAddress } from "./client-address.js";
import { answerProblems, errorShape } from "./problem-response.js";
import { rateLimitHeaders } from "./rate-limit-headers.js";
import { contextOf } from "./request-context.js";

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

/** A handler that answers GET and HEAD for each document. */
export type ServeDocuments = (documents: readonly Document[]) => RequestHandler;

export interface DocumentServerDeps {
  readonly admission: Pick<Admission, "reportAddressQuota">;
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** One page loads about 15 files. The day limit is never reached: 600 a minute is 864,000 a day. */
const filesPerAddress: Limits = { perMinute: 600, perDay: 1_000_000 };
/** Remembered at once, about 500 bytes each. */
const maxAddresses = 10_000;

/**
 * Documents need no key and cost no units; the quota of the address is reported as everywhere. Each address may load 600
 * files a minute from this process. Browsers keep what they have and ask whether it is still current (RFC 9110 section
 * 13.1.2), so a deploy never mixes old scripts with new pages.
 */
export function createDocumentServer({ admission, log, now }: DocumentServerDeps): ServeDocuments {
  const quota = createLocalQuota({ now, capacity: maxAddresses });

  async function countFile(req: Request, res: Response): Promise<void> {
    const account = addressBucket(clientAddress(req));
    const decision = await quota.reserve({ account, limits: filesPerAddress, cost: 1 });
    if (decision.outcome !== "refused") {
      await admission.reportAddressQuota(res);
      return;
    }
    for (const [name, value] of rateLimitHeaders(decision)) res.setHeader(name, value);
    throw new Problem("RATE_LIMIT_EXCEEDED", `An address may load ${filesPerAddress.perMinute} files a minute.`, {
      retryAfterSeconds: retryAfterSeconds(decision),
    });
  }

  return (documents) => {
    const byPath = new Map(documents.map((document) => [document.path, document]));
    // Prepared at the first request: a start need not wait for a megabyte that perhaps nobody reads.
    const prepared = new Map<string, Prepared>();
    const serve: RequestHandler = async (req, res, next) => {
      const document = byPath.get(req.path);
      if (document === undefined || (req.method !== "GET" && req.method !== "HEAD")) {
        next();
        return;
      }
      contextOf(res).route = req.path;
      await countFile(req, res);
      const found = prepared.get(req.path) ?? prepare(document);
      prepared.set(req.path, found);
      send(found, req, res);
    };
    // A router of its own, so that a refusal has the Error body in both APIs.
    return Router({ caseSensitive: true, strict: true }).use(serve, answerProblems(log, errorShape));
  };
}

function send({ headers, tag, packed, bytes }: Prepared, req: Request, res: Response): void {
  for (const [name, value] of headers) res.setHeader(name, value);
  if (req.headers["if-none-match"]?.includes(tag)) {
    res.statusCode = 304;
    res.end();
    return;
  }
  const isPacked = req.acceptsEncodings("gzip") !== false;
  if (isPacked) res.setHeader("Content-Encoding", "gzip");
  const body = isPacked ? packed : bytes;
  res.setHeader("Content-Length", body.length);
  res.end(body);
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
