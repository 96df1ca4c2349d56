import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Problem } from "@petstore/core";
import { maxJsonDepth, parseExactJson } from "./exact-json.js";
import { headerValues } from "./header-values.js";

/** 64 KiB. A new pet needs less than 4 KB, even with every character escaped. GraphQL documents are longer. */
const maxBodyBytes = 65_536;
const noContentType = "The Content-Type header is missing; send Content-Type: application/json.";
/** Drops a byte order mark, unlike `toString`. */
const utf8 = new TextDecoder();

/**
 * The JSON body of a request, integers as bigint. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_JSON, or the
 * problem of a body that ends too early.
 */
export async function readJson(
  req: IncomingMessage,
  res: ServerResponse,
  maxDepth: number = maxJsonDepth,
): Promise<unknown> {
  if (!req.headers["content-type"]) throw new Problem("UNSUPPORTED_MEDIA_TYPE", noContentType);
  if (!isPlainJson(req)) throw new Problem("UNSUPPORTED_MEDIA_TYPE");
  const bytes = await readBody(req, res);
  if (!isUtf8(bytes)) throw new Problem("INVALID_JSON", "The request body is not UTF-8.");
  return parseExactJson(utf8.decode(bytes), maxDepth);
}

/** The charset UTF-8 is optional (RFC 8259 section 8.1), and a semicolon may end the value (RFC 9110 section 5.6.6). */
function isPlainJson(req: IncomingMessage): boolean {
  const [type = "", another] = headerValues(req, "content-type");
  // A proxy may have checked only one of two headers.
  if (another !== undefined) return false;
  const isJson = /^application\/json\s*(;\s*(charset=("utf-8"|utf-8)\s*)?)*$/i.test(type);
  const coding = req.headers["content-encoding"] ?? "identity";
  return isJson && coding.toLowerCase() === "identity";
}

function readBody(req: IncomingMessage, res: ServerResponse): Promise<Buffer> {
  if (Number(req.headers["content-length"] ?? 0) > maxBodyBytes) throw new Problem("PAYLOAD_TOO_LARGE");
  // If the body ended too early during admission, no further event follows.
  if (req.errored) throw bodyProblem(req.errored);
  // A client that waits for `100 Continue` uploads no body if its request was refused before this line. A server ignores the
  // expectation in HTTP/1.0 (RFC 9110 section 10.1.1).
  const isExpected = req.headers.expect?.toLowerCase() === "100-continue";
  if (isExpected && req.httpVersion !== "1.0") res.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    req.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBodyBytes) chunks.push(chunk);
      // The rest is read and dropped, so that a client that is still writing can read the response.
      else reject(new Problem("PAYLOAD_TOO_LARGE"));
    });
    req.on("end", () => resolve(Buffer.concat(chunks, length)));
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
