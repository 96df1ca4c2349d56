import { Pool } from "undici";
import type { HttpAnswer } from "../apis/http-exchange.js";

export type ApiOf = "rest" | "graphql";

/** A request as it goes onto the wire. */
export interface WireRequest {
  readonly api: ApiOf;
  readonly method: string;
  readonly path: string;
  /** In their order; a name may come twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | undefined;
}

/** Connections to one service, kept open. Rejects where no whole answer comes. */
export interface Wire extends AsyncDisposable {
  send(request: WireRequest): Promise<HttpAnswer>;
}

/** Of a request without an answer: `faults.md` calls it hanging after 5 s; a busy machine gets three times that. */
const timeoutMs = 15_000;

export function openWire(origin: string, connections: number): Wire {
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return {
    async send({ method, path, headers, body }) {
      const response = await pool.request({
        method: method as "GET",
        path,
        headers: headers.flat(),
        ...(body !== undefined && { body }),
      });
      return {
        status: response.statusCode,
        headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
        text: await response.body.text(),
        receivedAtMs: Date.now(),
      };
    },
    async [Symbol.asyncDispose]() {
      await pool.destroy();
    },
  };
}

/** For a terminal: `$REST` and `$GRAPHQL` stand for the origins, `$KEY` for the key. */
export function asCurl({ api, method, path, headers, body }: WireRequest): string {
  const lines = headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const target = `"$${api.toUpperCase()}"${quoted(path)}`;
  const curl = ["curl -i --path-as-is", `-X ${quoted(method)}`, ...lines];
  if (body === undefined) return [...curl, target].join(" ");
  const text = body.toString();
  const isPrintable = Buffer.from(text).equals(body) && /^[\x20-\x7e]*$/.test(text);
  if (isPrintable) return [...curl, `--data-binary ${quoted(text)}`, target].join(" ");
  return `printf %s ${body.toString("base64")} | base64 -d | ${[...curl, "--data-binary @-", target].join(" ")}`;
}

/** In single quotes, with the key in double ones where the shell puts it in. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll(/pets_(test|live)_\w+/g, `'"$KEY"'`)}'`;
}
