import { describe, expect } from "vitest";
import { chunked, it } from "./it.js";

const fields = (count: number): string =>
  Array.from({ length: count }, (_value, index) => `X-${index}: y\r\n`).join("");

describe("a request message", () => {
  it.for(["Host: a", "hOsT: a", "Host:", "Host: a.example:8080", "Host: [::1]:80", "Host: 127.0.0.1", "Host: a%20b"])(
    "may have %j",
    async (header, { client }) => {
      client.write(`GET /pets HTTP/1.1\r\n${header}\r\n\r\n`);
      expect((await client.received(1))[0]?.status).toBe(200);
    },
  );

  it.for([
    ["HTTP/1.0 without a Host", "GET /pets HTTP/1.0\r\n\r\n"],
    ["200 header fields", `GET /pets HTTP/1.1\r\nHost: a\r\n${fields(199)}\r\n`],
  ] as const)("may be %s", async ([_what, request], { client }) => {
    client.write(request);
    expect((await client.received(1))[0]?.status).toBe(200);
  });

  const hosts = ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nHOST: b\r\n", "Host: a b\r\n", "Host: a@b\r\n"];
  const otherHosts = ["Host: a/b\r\n", "Host: a:http\r\n", "Host: [::1\r\n", "Host: a, b\r\nhost: c\r\n"];
  it.for([
    ...[...hosts, ...otherHosts].map((header) => `GET /pets HTTP/1.1\r\n${header}\r\n`),
    "CONNECT pets.example:443 HTTP/1.1\r\n\r\n",
    "GET /pets HTTP/0.9\r\nHost: a\r\n\r\n",
    "GET /pets HTTP/2.0\r\nHost: a\r\n\r\n",
    `POST /pets HTTP/1.0\r\nHost: a\r\n${chunked}0\r\n\r\n`,
    "GET /pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc",
    "POST /pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  ])("may not be %j", async (request, { client }) => {
    client.write(request);
    const [answer] = await client.received(1);
    expect(answer?.status).toBe(400);
    expect(JSON.parse(answer?.text ?? "")).toMatchObject({ code: "MALFORMED_REQUEST" });
  });

  it("may not have 201 header fields", async ({ client }) => {
    client.write(`GET /pets HTTP/1.1\r\nHost: a\r\n${fields(200)}\r\n`);
    const [answer] = await client.received(1);
    expect(answer?.status).toBe(431);
    expect(JSON.parse(answer?.text ?? "")).toMatchObject({ code: "HEADERS_TOO_LARGE" });
  });

  it("loses no field of 2,500, so that none can hide", async ({ server, client }) => {
    let seen: string | undefined;
    server.server.prependListener("request", (request) => {
      seen = request.headers.authorization;
    });
    client.write(`GET /pets HTTP/1.1\r\nHost: a\r\n${"a:b\r\n".repeat(2_500)}Authorization: Bearer late\r\n\r\n`);
    expect((await client.received(1))[0]?.status).toBe(431);
    expect(seen).toBe("Bearer late");
  });
});
