import { type Api, authorization, graphql, host, requestOf, startOfCreate } from "../environment/apis.js";

/** Bytes on a connection of their own, and the statuses of the answers in order. */
export interface Conversation {
  readonly what: string;
  readonly bytes: string | Buffer;
  readonly statuses: readonly number[];
  /** The client closes its sending side after the bytes. */
  readonly isHalfClosed?: boolean;
}

const chunked = "Transfer-Encoding: chunked\r\n\r\n";

/** Bytes that never reach Express, or only because the server forwards them. */
export function conversations(api: Api, apiKey: string): readonly Conversation[] {
  const key = authorization(apiKey);
  const list = requestOf(api.list, key);
  const { path } = api.list;
  const post = startOfCreate(api, key).slice(0, -2);
  const invalid = requestOf({ ...api.create("", ""), body: "{" }, key);
  const missing = `GET /none HTTP/1.1\r\n${host}${key}\r\n`;
  const get = `GET ${path} HTTP/1.1\r\n${host}`;
  const listWith = (lines: string) => requestOf(api.list, key + lines);
  const refused: Readonly<Record<string, string | Buffer>> = {
    "a bad request line": "GET/pets\r\n\r\n",
    "an unknown method": `BREW ${path} HTTP/1.1\r\n${host}\r\n`,
    "a header without a name": `${get}: x\r\n\r\n`,
    "a space before the colon": `${get}X : y\r\n\r\n`,
    "a folded header": `${get}X: y\r\n z\r\n\r\n`,
    "bare line feeds": `GET ${path} HTTP/1.1\nHost: x\n\n`,
    "two Content-Length headers": `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
    "Content-Length with Transfer-Encoding": `${post}Content-Length: 3\r\n${chunked}0\r\n\r\n`,
    "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a TLS handshake": Buffer.from("16030100c8010000c40303", "hex"),
    "a broken chunk": `${post}Content-Type: application/json\r\n${chunked}no chunk size\r\n`,
    "no Host": requestOf(api.list, key, ""),
    "two Hosts": requestOf(api.list, key, host + host),
    "an invalid Host": requestOf(api.list, key, "Host: a b\r\n"),
  };
  const badLineAfterList = `${list}GET/bad\r\n\r\n`;
  const cutBody = `${post}Content-Type: application/json\r\nContent-Length: 9\r\n\r\nabc`;
  const expectWithoutKey = startOfCreate(api, "Expect: 100-continue\r\nContent-Length: 9\r\n");
  // A list of REST has no body to wait for.
  const continued = api.name === graphql.name ? [100, 200] : [200];
  return [
    ...Object.entries(refused).map(([what, bytes]) => ({ what, bytes, statuses: [400] })),
    { what: "CONNECT", bytes: `CONNECT pets.example:443 HTTP/1.1\r\n${host}${key}\r\n`, statuses: [404] },
    { what: "Upgrade", bytes: listWith("Connection: Upgrade\r\nUpgrade: websocket\r\n"), statuses: [200] },
    { what: "Expect: 100-continue", bytes: listWith("Expect: 100-continue\r\n"), statuses: continued },
    { what: "Expect: 100-continue without a key", bytes: expectWithoutKey, statuses: [401] },
    { what: "an unknown expectation", bytes: listWith("Expect: the-best\r\n"), statuses: [200] },
    { what: "a request behind a 404", bytes: missing + list, statuses: [404, 200] },
    { what: "a request behind a 400", bytes: invalid + list, statuses: [400, 200] },
    { what: "a request behind a 401", bytes: requestOf(api.list, "") + list, statuses: [401, 200] },
    { what: "a bad request line behind a request", bytes: badLineAfterList, statuses: [200, 400] },
    { what: "a bad request line and a FIN", bytes: badLineAfterList, statuses: [200, 400], isHalfClosed: true },
    { what: "a body cut by a FIN", bytes: cutBody, statuses: [400], isHalfClosed: true },
  ];
}
