import { type Api, type Call, graphqlRouter } from "./api.js";

/** Bytes on a connection of their own, and the statuses of all that is answered on it, in their order. */
export interface Conversation {
  readonly what: string;
  readonly bytes: string | Buffer;
  readonly statuses: readonly number[];
  /** Whether the client closes its sending side after them; not unless it is said. */
  readonly isHalfClosed?: boolean;
}

const host = "Host: pets.example\r\n";
const chunked = "Transfer-Encoding: chunked\r\n\r\n";

/** What Express never sees, or sees only because the server hands it over. */
export function conversations(api: Api, apiKey: string): readonly Conversation[] {
  const key = authorization(apiKey);
  const list = requestOf(api.list, key);
  const { path } = api.list;
  const post = `POST ${api.create("", "").path} HTTP/1.1\r\n${host}${key}`;
  const invalid = requestOf({ ...api.create("", ""), body: "{" }, key);
  const missing = `GET /none HTTP/1.1\r\n${host}${key}\r\n`;
  const refused = (what: string, bytes: string | Buffer): Conversation => ({ what, bytes, statuses: [400] });
  return [
    refused("a bad request line", "GET/pets\r\n\r\n"),
    refused("an unknown method", `BREW ${path} HTTP/1.1\r\n${host}\r\n`),
    refused("a header without a name", `GET ${path} HTTP/1.1\r\n${host}: x\r\n\r\n`),
    refused("a space before the colon", `GET ${path} HTTP/1.1\r\n${host}X : y\r\n\r\n`),
    refused("a folded header", `GET ${path} HTTP/1.1\r\n${host}X: y\r\n z\r\n\r\n`),
    refused("bare line feeds", `GET ${path} HTTP/1.1\nHost: x\n\n`),
    refused("two Content-Length headers", `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`),
    refused("Content-Length with Transfer-Encoding", `${post}Content-Length: 3\r\n${chunked}0\r\n\r\n`),
    refused("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    refused("a TLS handshake", Buffer.from("16030100c8010000c40303", "hex")),
    refused("a broken chunk", `${post}Content-Type: application/json\r\n${chunked}no chunk size\r\n`),
    refused("no Host", requestOf(api.list, key, "")),
    refused("two Hosts", requestOf(api.list, key, host + host)),
    refused("a Host that is none", requestOf(api.list, key, "Host: a b\r\n")),
    { what: "a header of 17 KB", bytes: requestOf(api.list, `${key}X: ${"y".repeat(17_000)}\r\n`), statuses: [431] },
    { what: "2,500 headers", bytes: requestOf(api.list, `${"a:b\r\n".repeat(2_500)}${key}`), statuses: [431] },
    { what: "CONNECT", bytes: `CONNECT pets.example:443 HTTP/1.1\r\n${host}${key}\r\n`, statuses: [404] },
    {
      what: "Upgrade",
      bytes: requestOf(api.list, `${key}Connection: Upgrade\r\nUpgrade: websocket\r\n`),
      statuses: [200],
    },
    {
      what: "Expect: 100-continue",
      bytes: requestOf(api.list, `${key}Expect: 100-continue\r\n`),
      // REST's list has no body to wait for.
      statuses: api.name === graphqlRouter.name ? [100, 200] : [200],
    },
    {
      what: "Expect: 100-continue without a key",
      bytes: `POST ${api.create("", "").path} HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n`,
      statuses: [401],
    },
    { what: "an unknown expectation", bytes: requestOf(api.list, `${key}Expect: the-best\r\n`), statuses: [200] },
    { what: "a request behind a 404", bytes: missing + list, statuses: [404, 200] },
    { what: "a request behind a 400", bytes: invalid + list, statuses: [400, 200] },
    { what: "a request behind a 401", bytes: requestOf(api.list, "") + list, statuses: [401, 200] },
    { what: "a bad request line behind a request", bytes: `${list}GET/bad\r\n\r\n`, statuses: [200, 400] },
    {
      what: "a bad request line and then a FIN",
      bytes: `${list}GET/bad\r\n\r\n`,
      statuses: [200, 400],
      isHalfClosed: true,
    },
    {
      what: "a body that a FIN cuts",
      bytes: `${post}Content-Type: application/json\r\nContent-Length: 9\r\n\r\nabc`,
      statuses: [400],
      isHalfClosed: true,
    },
  ];
}

/** The header line that shows a key. */
export function authorization(apiKey: string): string {
  return `Authorization: Bearer ${apiKey}\r\n`;
}

/** A request as it is on the wire, with further header lines. */
export function requestOf({ method, path, headers = {}, body }: Call, lines: string, hostLine: string = host): string {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === undefined ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${hostLine}${own.join("")}${length}${lines}\r\n${body ?? ""}`;
}

/** A request that begins like a create, and goes on as the caller likes. */
export function beginningOf(api: Api, lines: string): string {
  return `POST ${api.create("", "").path} HTTP/1.1\r\n${host}${lines}\r\n`;
}
