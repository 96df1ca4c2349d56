// One request over HTTP/1.1, and its response as it arrives: `fetch` hides the encoding of the content, and follows redirects.
import { type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { Refusal } from "../../command-context.js";

export interface ExchangeOptions {
  readonly url: URL;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly timeoutMs: number;
  readonly agent?: HttpAgent;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export interface Received {
  /** The method and the path, for messages. */
  readonly request: string;
  readonly status: number;
  /** Names in lower case. The values of a repeated header are joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Without its encoding, if that is gzip. */
  readonly body: string;
  /** The error code of the store in the body, of REST or of GraphQL. */
  readonly code: string | undefined;
  /** Epoch milliseconds of this machine. */
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
}

/** Rejects with the error of the connection if no whole response arrives in time. */
export async function exchange(options: ExchangeOptions): Promise<Received> {
  const { url, method = "GET", headers = {}, body, timeoutMs, agent, now } = options;
  const send: typeof httpRequest = url.protocol === "https:" ? httpsRequest : httpRequest;
  const signal = AbortSignal.timeout(timeoutMs);
  const sentAtMs = now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    send(url, { method, headers: { ...length, ...headers }, signal, ...(agent && { agent }) }, resolve)
      .on("error", reject)
      // Comes without an error after 101, for example. The timeout alone would not keep the process alive.
      .on("close", () => reject(new Error("the connection ended without a response")))
      .end(body);
  });
  const receivedAtMs = now();
  const bytes = await buffer(response).catch((error: unknown) => {
    // A content that the timeout cuts off looks like one whose connection broke.
    throw signal.aborted ? signal.reason : error;
  });
  const text = decode(bytes, response.headers["content-encoding"]);
  // Messages repeat some values. Only printable ASCII reaches a terminal.
  const received = Object.entries(response.headers).map(([name, value]) => [
    name,
    String(value).replaceAll(/[^ -~]/g, "?"),
  ]);
  return {
    request: `${method} ${url.pathname}${url.search}`,
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(received),
    body: text,
    code: errorCodeIn(text),
    sentAtMs,
    receivedAtMs,
  };
}

function decode(bytes: Buffer, encoding: string | undefined): string {
  // The response to HEAD names the encoding of GET, and has no content.
  if (encoding !== "gzip" || bytes.length === 0) return bytes.toString();
  try {
    return gunzipSync(bytes).toString();
  } catch {
    // A proxy named the encoding wrongly. The checks then find no JSON.
    return bytes.toString();
  }
}

/** The value of a JSON text; `undefined` if it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A page of a proxy, for example.
    return undefined;
  }
}

/** Of REST, or of GraphQL. */
interface ErrorBody {
  readonly code?: unknown;
  readonly errors?: readonly ({ readonly extensions?: { readonly code?: unknown } } | null)[] | null;
}

function errorCodeIn(text: string): string | undefined {
  const body = jsonIn(text) as ErrorBody | null | undefined;
  const code = body?.code ?? body?.errors?.[0]?.extensions?.code;
  // Nothing else of a foreign body gets into a message.
  return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? code : undefined;
}

/** For messages: the status, and the error code or the media type. */
export function describeReceived({ status, code, headers }: Received): string {
  return `${status} ${code ?? `without an error code (${headers["content-type"] ?? "no content type"})`}`;
}

/** No whole response has arrived. The message is one line for the operator. */
export class NoResponse extends Refusal {
  constructor({ host }: URL, error: unknown, timeoutMs: number) {
    const { name = "", code, message = "", reason = message } = error as NodeJS.ErrnoException & { reason?: string };
    // The code of a DOMException is a number. The message of OpenSSL has two lines, and its reason is a part of them.
    super(explain(host, typeof code === "string" ? code : name, reason, timeoutMs), { cause: error });
  }
}

function explain(host: string, code: string, message: string, timeoutMs: number): string {
  switch (code) {
    case "ECONNREFUSED":
      return `Nothing listens at ${host}: correct --url, or start the balancer.`;
    case "ENOTFOUND":
      return `The host of ${host} is not known: correct --url, or its entry in the DNS.`;
    case "EAI_AGAIN":
      return `The host of ${host} cannot be looked up now: try again, or correct --url.`;
    case "ABORT_ERR":
    case "AbortError":
    case "TimeoutError":
      return `${host} did not answer within ${timeoutMs / 1_000} s: look at the balancer, or give a longer --timeout.`;
    case "EPROTO":
    case "ERR_SSL_WRONG_VERSION_NUMBER":
      return `${host} does not answer with TLS: correct --url, or the balancer.`;
    case "CERT_HAS_EXPIRED":
    case "ERR_TLS_CERT_ALTNAME_INVALID":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return `The certificate of ${host} is not accepted (${code}), so the key was not sent: ${certificateAdvice}`;
    default:
      return `${host} cannot be asked: ${message || code}.`;
  }
}

const certificateAdvice =
  "replace it, send its whole chain, or name the file of a private certificate authority in NODE_EXTRA_CA_CERTS.";
