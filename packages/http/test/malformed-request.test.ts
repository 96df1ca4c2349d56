import { openRawClient, type RawClient } from "@petstore/harness/network";
import { describe, expect } from "vitest";
import { chunked, create, host, it, list, refused, slow, statuses } from "./it.js";
import { answerPlainly, startTestServer } from "./test-server.js";

const brokenChunk = "no chunk size\r\n";
const shortLimits = { headersTimeoutMs: 60, requestTimeoutMs: 120, timeoutCheckMs: 20 };
const answerLater: typeof answerPlainly = async (problem, address) => {
  await new Promise((resolve) => setTimeout(resolve, 30));
  return answerPlainly(problem, address);
};

describe("a request that the parser refuses", () => {
  it.for<[string, string | Buffer]>([
    ["a bad request line", "GET/pets\r\n\r\n"],
    ["an unknown method", `BREW /pets HTTP/1.1\r\n${host}\r\n`],
    ["a header without a name", `GET /pets HTTP/1.1\r\n${host}: x\r\n\r\n`],
    ["a space before the colon", `GET /pets HTTP/1.1\r\n${host}X : y\r\n\r\n`],
    ["a folded header", `GET /pets HTTP/1.1\r\n${host}X: y\r\n z\r\n\r\n`],
    ["bare line feeds", "GET /pets HTTP/1.1\nHost: x\n\n"],
    ["Content-Length with Transfer-Encoding", `${create}Content-Length: 3\r\n${chunked}0\r\n\r\n`],
    ["two Content-Length headers", `${create}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a TLS handshake", Buffer.from("16030100c8010000c40303", "hex")],
  ])("gets the Error body, once: %s", async ([_name, bytes], { server, client }) => {
    client.write(bytes);
    await client.closed;
    const [answer, ...more] = client.answers();
    expect(answer?.status).toBe(400);
    expect(JSON.parse(answer?.text ?? "")).toMatchObject({ code: "MALFORMED_REQUEST", status: 400 });
    expect(answer?.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-length": `${answer?.text.length}`,
      connection: "close",
      date: expect.stringContaining("GMT"),
      "x-ratelimit-remaining": "7",
      vary: "Origin, Accept",
    });
    expect([more, server.handled, server.malformedRequests]).toEqual([[], [], ["MALFORMED_REQUEST"]]);
  });

  it("gets 431 if its headers have more than 16 KiB", async ({ server, client }) => {
    client.write(`GET /pets HTTP/1.1\r\n${host}X: ${"y".repeat(17_000)}\r\n\r\n`);
    await client.closed;
    expect(statuses(client)).toEqual([431]);
    expect(server.malformedRequests).toEqual(["HEADERS_TOO_LARGE"]);
  });

  it("is answered once, after the requests before it on the connection", async ({ server, client }) => {
    client.write(`${slow}${list}GET/bad\r\n\r\n`);
    await expect.poll(() => server.malformedRequests).toHaveLength(1);
    client.write("and more of it\r\n\r\n");
    server.release();
    await client.closed;
    expect(statuses(client)).toEqual([200, 200, 400]);
    expect(client.answers()[0]?.text).toContain("slow");
    expect(server.malformedRequests).toHaveLength(1);
  });

  it("is answered once, even if it waits for its turn until its time is up", async () => {
    await using server = await startTestServer(shortLimits);
    using client = openRawClient(server.port);
    client.write(`${slow}GET/bad\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 160));
    server.release();
    await client.closed;
    expect(statuses(client)).toEqual([200, 400]);
    expect(server.malformedRequests).toEqual(["MALFORMED_REQUEST"]);
  });

  it("is answered if the client has closed its sending side", async () => {
    await using server = await startTestServer({}, answerLater);
    using client = openRawClient(server.port);
    client.socket.end(`${list}GET/bad\r\n\r\n`);
    await client.closed;
    expect(statuses(client)).toEqual([200, 400]);
  });

  it("is ignored behind a request that was to be the last", async ({ server, client }) => {
    client.write(`GET /slow HTTP/1.1\r\n${host}Connection: close\r\n\r\n${list}`);
    await expect.poll(() => server.handled).toHaveLength(1);
    server.release();
    await client.closed;
    expect([statuses(client), server.handled, server.malformedRequests]).toEqual([[200], ["GET /slow"], []]);
  });

  it("closes the connection if it cannot be answered, and the fault is reported", async () => {
    await using server = await startTestServer({}, () => Promise.reject(new Error("no quota")));
    using client = openRawClient(server.port);
    client.write("GET/bad\r\n\r\n");
    await client.closed;
    expect([client.answers(), server.faults]).toEqual([[], [new Error("no quota")]]);
  });
});

it("a client that closes its sending side after its requests gets its responses", async ({ server, client }) => {
  client.socket.end(slow + slow);
  await expect.poll(() => server.handled).toHaveLength(2);
  server.release();
  await client.closed;
  expect(statuses(client)).toEqual([200, 200]);
});

describe("a request that takes too long", () => {
  it("gets 408 if its headers do not end, and no more of it is read", async () => {
    await using server = await startTestServer(shortLimits, answerLater);
    using client = openRawClient(server.port);
    client.write(`${list}GET /pets HTTP/1.1\r\n${host}`);
    await expect.poll(() => server.malformedRequests).toHaveLength(1);
    client.write("\r\n");
    await client.closed;
    expect(statuses(client)).toEqual([200, 408]);
    expect(server.handled).toHaveLength(1);
  });

  it.each([
    ["closes the connection without a response before its first byte", "", []],
    ["gets one 408, from the app, while the app waits for its body", `${create}Content-Length: 9\r\n\r\nabc`, [408]],
    ["is not answered again if the app refused it before its body", `${refused}Content-Length: 9\r\n\r\nabc`, [413]],
  ])("%s", async (_promise, bytes, expected) => {
    await using server = await startTestServer(shortLimits);
    using client = openRawClient(server.port);
    client.write(bytes);
    await client.closed;
    expect([statuses(client), server.malformedRequests]).toEqual([expected, []]);
    const [answer] = client.answers();
    if (answer?.status === 408) expect(answer.headers.connection).toBe("close");
  });
});

describe("a body that breaks off", () => {
  it.for<[where: string, send: (client: RawClient) => void, status: number]>([
    ["in a broken chunk", (client) => client.write(create + chunked + brokenChunk), 400],
    ["at the end of the connection", (client) => client.socket.end(`${create}Content-Length: 9\r\n\r\nabc`), 400],
    ["in its trailers", (client) => client.write(`${create}${chunked}0\r\nX: ${"y".repeat(17_000)}\r\n\r\n`), 431],
  ])("%s is answered once, by the app", async ([_where, send, status], { server, client }) => {
    send(client);
    await client.closed;
    expect([statuses(client), server.malformedRequests]).toEqual([[status], []]);
  });

  it("is not answered again if the app refused the request before it", async ({ server, client }) => {
    client.write(`${refused}${chunked}3\r\nabc\r\n`);
    await client.received(1);
    client.write(brokenChunk);
    await client.closed;
    expect([statuses(client), server.malformedRequests]).toEqual([[413], []]);
  });

  it.for([
    ["a request that waits for it", create, [200, 400]],
    ["a request refused before it", refused, [200, 413]],
  ] as const)("keeps the order of responses, behind %s", async ([_name, request, expected], { server, client }) => {
    client.write(slow + request + chunked);
    await expect.poll(() => server.handled).toHaveLength(2);
    client.write(brokenChunk);
    await new Promise((resolve) => setTimeout(resolve, 20));
    server.release();
    await client.closed;
    expect([statuses(client), server.malformedRequests]).toEqual([expected, []]);
  });
});
