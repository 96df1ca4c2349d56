/** Reads a body of at most 64 KiB, which must be JSON. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Problem } from "@petstore/core";
import type { SingleHeader } from "../server/single-headers.js";
import { parseExactJson } from "./exact-json.js";

/** 64 KiB. A new pet needs less than 4 KB, even with every character escaped. GraphQL documents are longer. */
const maxBodyBytes = 65_536;
const noContentType = "The Content-Type header is missing; send Content-Type: application/json.";
/** Drops a byte order mark, unlike `toString`. */
const utf8 = new TextDecoder();

/**
 * Reads the body of a request that must be JSON. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or the problem of a body
 * that ends too early.
 */
export async function readBody(req: IncomingMessage, res: ServerResponse, contentType: SingleHeader): Promise<Buffer> {
  if (!contentType) throw new Problem("UNSUPPORTED_MEDIA_TYPE", noContentType);
  const isPlain = (req.headers["content-encoding"] ?? "identity").toLowerCase() === "identity";
  if (!isJson(contentType) || !isPlain) throw new Problem("UNSUPPORTED_MEDIA_TYPE");
  return receive(req, res);
}

/** The value of a body, integers as bigint. Throws INVALID_JSON, or VALIDATION_FAILED for too many values. */
export function parseBody(body: Buffer, maxDepth?: number): unknown {
  if (!isUtf8(body)) throw new Problem("INVALID_JSON", "The request body is not UTF-8.");
  return parseExactJson(utf8.decode(body), maxDepth);
}

/** The charset UTF-8 is optional (RFC 8259 section 8.1), and a semicolon may end the value (RFC 9110 section 5.6.6). */
function isJson(contentType: SingleHeader): boolean {
  return (
    typeof contentType === "string" && /^application\/json\s*(;\s*(charset=("utf-8"|utf-8)\s*)?)*$/i.test(contentType)
  );
}

function receive(req: IncomingMessage, res: ServerResponse): Promise<Buffer> {
  if (Number(req.headers["content-length"] ?? 0) > maxBodyBytes) throw new Problem("PAYLOAD_TOO_LARGE");
  // If the body ended too early during admission, no further event follows.
  if (req.errored) throw bodyProblem(req.errored);
  // A client that waits for `100 Continue` uploads no body if its request was refused before this line. A server ignores the
  // expectation in HTTP/1.0 (RFC 9110 section 10.1.1).
  const isExpected = req.headers.expect?.toLowerCase() === "100-continue";
  if (isExpected && req.httpVersion !== "1.0") res.writeContinue();
  return new Promise((resolve, reject) => {
    // One buffer instead of a list of pieces: an object for each piece of one byte takes 200 times the memory of the byte.
    let body: Buffer = Buffer.alloc(0);
    let length = 0;

    function append(piece: Buffer): void {
      const end = length + piece.length;
      if (end > body.length) {
        const larger = Buffer.allocUnsafe(Math.min(Math.max(end, 2 * body.length), maxBodyBytes));
        body.copy(larger, 0, 0, length);
        body = larger;
      }
      piece.copy(body, length);
      length = end;
    }

    function refuse(problem: Problem): void {
      req.off("data", onData);
      // The rest is read and dropped, so that a client that is still writing can read the response.
      req.resume();
      body = Buffer.alloc(0);
      reject(problem);
    }

    function onData(piece: Buffer): void {
      if (length + piece.length > maxBodyBytes) refuse(new Problem("PAYLOAD_TOO_LARGE"));
      else append(piece);
    }

    req.on("data", onData);
    req.on("end", () => {
      resolve(body.subarray(0, length));
      // The request keeps these listeners until its response is sent.
      body = Buffer.alloc(0);
    });
    // Every request emits 'close'. The check saves the time to create an unused error.
    req.on("close", () => {
      if (!req.readableEnded) reject(bodyProblem(undefined));
    });
    req.on("error", (error) => reject(bodyProblem(error)));
  });
}

/** If a body is malformed or too slow, the server calls `req.destroy(problem)`. The problem becomes the response. */
function bodyProblem(cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  return new Problem("MALFORMED_REQUEST", "The connection ended before the body did.", { cause });
}
