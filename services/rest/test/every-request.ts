// Every kind of request, with a key and a text in each place that takes any text.
import { openRawClient } from "@petstore/harness/network";
import type { Answer, TestStore } from "./test-store.js";

/** The body of the creates. */
export const mauvePet = '{"name":"a-mauve-name","categoryId":1}';

/** Sends every request unchanged, byte for byte, each on a connection of its own. The text is `mauve` unless given. */
export async function sendEveryRequest(
  { port }: Pick<TestStore, "port">,
  key: string,
  text = "mauve",
  encoding: "utf8" | "latin1" = "utf8",
): Promise<Answer[]> {
  const sending = everyRequest(key, text).map(async ([line, headers, body = ""]) => {
    const bytes = Buffer.from(body, encoding);
    const framing = `Host: pets.example\r\nConnection: close\r\nContent-Length: ${bytes.length}\r\n`;
    using client = openRawClient(port);
    client.socket.end(Buffer.concat([Buffer.from(`${line}\r\n${framing}${headers}\r\n`, encoding), bytes]));
    await client.closed;
    return client.answers();
  });
  return (await Promise.all(sending)).flat();
}

function everyRequest(key: string, text: string): readonly (readonly [line: string, headers: string, body?: string])[] {
  const withKey = `Authorization: Bearer ${key}\r\n`;
  const json = `${withKey}Content-Type: application/json\r\n`;
  const list = "GET /v1/pets HTTP/1.1";
  const create = "POST /v1/pets HTTP/1.1";
  return [
    [list, withKey],
    ...["limit", "status", "cursor", "api_key"].map(
      (name) => [`GET /v1/pets?${name}=${text} HTTP/1.1`, withKey] as const,
    ),
    [`GET /v1/pets?api_key=${key} HTTP/1.1`, ""],
    ...["pets/1", `pets/${text}`, `pets/${key}`, key, `${text}/%zz`].map(
      (path) => [`GET /v1/${path} HTTP/1.1`, withKey] as const,
    ),
    ["DELETE /v1/pets HTTP/1.1", withKey],
    ["OPTIONS /v1/pets HTTP/1.1", withKey],
    [`GET ${text} HTTP/1.1`, ""],
    [`${text} /v1/pets HTTP/1.1`, ""],
    [`${list}${text}`, ""],
    [list, `${text}: 1\r\n`],
    [list, `X-Forwarded-For: ${text}\r\nForwarded: for=${text}\r\nUser-Agent: ${text}\r\nOrigin: ${text}\r\n`],
    ...[`Bearer ${text}`, `Basic ${key}`, text].map((value) => [list, `Authorization: ${value}\r\n`] as const),
    ...[
      ...[`X-Request-Id: ${key}`, `X-Request-Id: trace/${key.toUpperCase()}`, `X-Request-Id: id${text}`],
      ...[`Traceparent: ${text}`, `Accept: ${text}`, "Accept: text/html", `Authorization: ${text}`, `Host: ${text}`],
    ].map((header) => [list, `${withKey}${header}\r\n`] as const),
    ...[key, text].map((type) => [create, `${withKey}Content-Type: ${type}\r\n`, mauvePet] as const),
    [create, json, mauvePet],
    [create, `${json}Idempotency-Key: ${key}\r\n`, mauvePet],
    [create, `${json}Idempotency-Key: ${key}\r\n`, mauvePet.replace("1", "2")],
    [create, `${json}Idempotency-Key: ${text}\r\n`, mauvePet],
    [create, json, `${text} ${key}`],
    [create, json, JSON.stringify({ name: text, categoryId: text, [`${text}!`]: text, status: text, [key]: key })],
    [create, json, mauvePet.padEnd(65_537)],
  ];
}
