import { openRawClient } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import { startTestServer } from "./test-server.js";

async function answerTo(request: string): Promise<{ status: number; code?: string }> {
  await using server = await startTestServer();
  using client = openRawClient(server.port);
  client.write(request);
  const [answer] = await client.received(1);
  return { status: answer?.status ?? 0, ...JSON.parse(answer?.text ?? "") };
}

const fields = (count: number): string =>
  Array.from({ length: count }, (_value, index) => `X-${index}: y\r\n`).join("");

describe("validateRequestMessage", () => {
  it.each([
    "",
    "Host: a\r\nHost: a\r\n",
    "Host: a\r\nHOST: b\r\n",
    "Host: a b\r\n",
    "Host: a@b\r\n",
    "Host: a/b\r\n",
    "Host: a:http\r\n",
    "Host: [::1\r\n",
    "Host: a, b\r\nhost: c\r\n",
  ])("refuses the Host %j", async (header) => {
    expect(await answerTo(`GET /pets HTTP/1.1\r\n${header}\r\n`)).toMatchObject({
      status: 400,
      code: "MALFORMED_REQUEST",
    });
  });

  it.each(["Host: a", "hOsT: a", "Host:", "Host: a.example:8080", "Host: [::1]:80", "Host: 127.0.0.1", "Host: a%20b"])(
    "accepts %j",
    async (header) => {
      expect(await answerTo(`GET /pets HTTP/1.1\r\n${header}\r\n\r\n`)).toMatchObject({ status: 200 });
    },
  );

  it("does not ask HTTP/1.0 for a Host", async () => {
    expect(await answerTo("GET /pets HTTP/1.0\r\n\r\n")).toMatchObject({ status: 200 });
  });

  it.each([
    "GET /pets HTTP/0.9\r\nHost: a\r\n\r\n",
    "GET /pets HTTP/2.0\r\nHost: a\r\n\r\n",
    "POST /pets HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET /pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabc",
    "POST /pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  ])("refuses %j", async (request) => {
    expect(await answerTo(request)).toMatchObject({ status: 400, code: "MALFORMED_REQUEST" });
  });

  it("accepts 200 header fields and refuses the 201st", async () => {
    expect(await answerTo(`GET /pets HTTP/1.1\r\nHost: a\r\n${fields(199)}\r\n`)).toMatchObject({ status: 200 });
    expect(await answerTo(`GET /pets HTTP/1.1\r\nHost: a\r\n${fields(200)}\r\n`)).toMatchObject({
      status: 431,
      code: "HEADERS_TOO_LARGE",
    });
  });

  it("drops no field of 2,500, so that none can hide", async () => {
    await using server = await startTestServer();
    let seen: string | undefined;
    server.server.prependListener("request", (request) => {
      seen = request.headers.authorization;
    });
    using client = openRawClient(server.port);
    client.write(`GET /pets HTTP/1.1\r\nHost: a\r\n${"a:b\r\n".repeat(2_500)}Authorization: Bearer late\r\n\r\n`);
    const [answer] = await client.received(1);
    expect(answer?.status).toBe(431);
    expect(seen).toBe("Bearer late");
  });
});
