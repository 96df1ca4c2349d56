import { expect } from "vitest";
import { chunked, it, list } from "./it.js";

const fields = (count: number): string =>
  Array.from({ length: count }, (_value, index) => `X-${index}: y\r\n`).join("");

it.for([
  ["a name as its host", "Host: a.example\r\n"],
  ["a port in its host", "Host: 127.0.0.1:8080\r\n"],
  ["an IPv6 address as its host", "Host: [::1]:80\r\n"],
  ["a percent-encoded host", "Host: a%20b\r\n"],
  // Before Node.js 20.20.2, 22.22.2 and 24.14.1, `headersDistinct` throws for such a header.
  ["headers with the names of properties", "__proto__: x\r\nHost: a\r\nconstructor: x\r\n__proto__: y\r\n"],
  ["200 header fields", `Host: a\r\n${fields(199)}`],
])("a request may have %s", async ([_what, headers], { client }) => {
  client.write(`GET /pets HTTP/1.1\r\n${headers}\r\n`);
  expect((await client.received(1))[0]?.status).toBe(200);
});

const hosts = ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nHOST: b\r\n", "Host: a b\r\n", "Host: a@b\r\n"];
const otherHosts = ["Host: a/b\r\n", "Host: a:http\r\n", "Host: [::1\r\n", "Host: a, b\r\nhost: c\r\n"];
it.for([
  ...[...hosts, ...otherHosts].map((header) => `GET /pets HTTP/1.1\r\n${header}\r\n`),
  "CONNECT pets.example:443 HTTP/1.1\r\n\r\n",
  "GET /pets?limit=5#&status=sold HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /pets?limit=5\u00a0 HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /pets HTTP/0.9\r\nHost: a\r\n\r\n",
  "GET /pets HTTP/2.0\r\nHost: a\r\n\r\n",
])("a request may not be %j", async (request, { client }) => {
  client.write(request);
  expect(await client.received(1)).toMatchObject([{ status: 400, code: "MALFORMED_REQUEST" }]);
});

it.for([
  `POST /pets HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n${chunked}0\r\n\r\n`,
  "GET /pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc",
  "POST /pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  "POST /pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n",
])("a request may not be %j, and nothing behind it is a request", async (request, { server, client }) => {
  client.write(request + list);
  await client.closed;
  const headers = { connection: "close" };
  expect(client.answers()).toMatchObject([{ status: 400, code: "MALFORMED_REQUEST", headers }]);
  expect(server.handled).toHaveLength(1);
});

it.for([200, 2_499])(
  "a request may not have %i header fields before its key, and loses none of them",
  async (count, { server, client }) => {
    let seen: string | undefined;
    server.server.prependListener("request", (request) => {
      seen = request.headers.authorization;
    });
    client.write(`GET /pets HTTP/1.1\r\nHost: a\r\n${"a:b\r\n".repeat(count - 1)}Authorization: Bearer late\r\n\r\n`);
    expect(await client.received(1)).toMatchObject([{ status: 431, code: "HEADERS_TOO_LARGE" }]);
    expect(seen).toBe("Bearer late");
  },
);
