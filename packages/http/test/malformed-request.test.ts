import { openRawClient, type RawClient } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import { failOnCrashes } from "./crash-watch.js";
import { answerPlainly, startTestServer } from "./test-server.js";

const host = "Host: pets.example\r\n";
const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
const list = `GET /pets HTTP/1.1\r\n${host}\r\n`;
const create = `POST /pets HTTP/1.1\r\n${host}`;
const refused = `POST /refused HTTP/1.1\r\n${host}`;
const chunked = "Transfer-Encoding: chunked\r\n\r\n";
const brokenChunk = "no chunk size\r\n";
const shortLimits = { headersTimeoutMs: 60, requestTimeoutMs: 120, timeoutCheckMs: 20 };

failOnCrashes();

const malformed = {
  "a bad request line": "GET/pets\r\n\r\n",
  "an unknown method": `BREW /pets HTTP/1.1\r\n${host}\r\n`,
  "a header without a name": `GET /pets HTTP/1.1\r\n${host}: x\r\n\r\n`,
  "a space before the colon": `GET /pets HTTP/1.1\r\n${host}X : y\r\n\r\n`,
  "a folded header": `GET /pets HTTP/1.1\r\n${host}X: y\r\n z\r\n\r\n`,
  "bare line feeds": "GET /pets HTTP/1.1\nHost: x\n\n",
  "Content-Length with Transfer-Encoding": `${create}Content-Length: 3\r\n${chunked}0\r\n\r\n`,
  "two Content-Length headers": `${create}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "a TLS handshake": Buffer.from("16030100c8010000c40303", "hex"),
};

describe("a request the parser refuses", () => {
  it.each(Object.entries(malformed))("answers %s with the Error body, once", async (_name, bytes) => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
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
    expect(more).toEqual([]);
    expect(server.handled).toEqual([]);
    expect(server.malformedRequests).toEqual(["MALFORMED_REQUEST"]);
  });

  it("answers a header section above 16 KiB with 431", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`GET /pets HTTP/1.1\r\n${host}X: ${"y".repeat(17_000)}\r\n\r\n`);
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual([431]);
    expect(server.malformedRequests).toEqual(["HEADERS_TOO_LARGE"]);
  });

  it("answers the requests before it on the connection first", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${slow}${list}GET/bad\r\n\r\n`);
    await expect.poll(() => server.malformedRequests).toHaveLength(1);
    client.write("and more of it\r\n\r\n");
    server.release();
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual([200, 200, 400]);
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
    expect(client.answers().map(({ status }) => status)).toEqual([200, 400]);
    expect(server.malformedRequests).toEqual(["MALFORMED_REQUEST"]);
  });

  it("is answered also when the client has closed its sending side", async () => {
    await using server = await startTestServer({}, async (problem, address) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return answerPlainly(problem, address);
    });
    using client = openRawClient(server.port);
    client.socket.end(`${list}GET/bad\r\n\r\n`);
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual([200, 400]);
  });

  it("is ignored behind a request that said it was the last", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`GET /slow HTTP/1.1\r\n${host}Connection: close\r\n\r\n${list}`);
    await expect.poll(() => server.handled).toHaveLength(1);
    server.release();
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual([200]);
    expect(server.handled).toEqual(["GET /slow"]);
    expect(server.malformedRequests).toEqual([]);
  });

  it("closes the connection and reports the fault when there is no answer", async () => {
    await using server = await startTestServer({}, () => Promise.reject(new Error("no quota")));
    using client = openRawClient(server.port);
    client.write("GET/bad\r\n\r\n");
    await client.closed;
    expect(client.answers()).toEqual([]);
    expect(server.faults).toEqual([new Error("no quota")]);
  });
});

it("answers a client that closes its sending side after its request", async () => {
  await using server = await startTestServer();
  using client = openRawClient(server.port);
  client.socket.end(slow + slow);
  await expect.poll(() => server.handled).toHaveLength(2);
  server.release();
  await client.closed;
  expect(client.answers().map(({ status }) => status)).toEqual([200, 200]);
});

describe("a request that takes too long", () => {
  it("answers 408 when its headers do not end, and takes no more of it", async () => {
    await using server = await startTestServer(shortLimits, async (problem, address) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return answerPlainly(problem, address);
    });
    using client = openRawClient(server.port);
    client.write(`${list}GET /pets HTTP/1.1\r\n${host}`);
    await expect.poll(() => server.malformedRequests).toHaveLength(1);
    client.write("\r\n");
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual([200, 408]);
    expect(server.handled).toHaveLength(1);
  });

  it("closes a connection on which nothing was asked, and counts nothing", async () => {
    await using server = await startTestServer(shortLimits);
    using client = openRawClient(server.port);
    await client.closed;
    expect(client.answers()).toEqual([]);
    expect(server.malformedRequests).toEqual([]);
  });

  it("is answered once, by the app, when the app waits for its body", async () => {
    await using server = await startTestServer(shortLimits);
    using client = openRawClient(server.port);
    client.write(`${create}Content-Length: 9\r\n\r\nabc`);
    await client.closed;
    const [answer, ...more] = client.answers();
    expect(answer).toMatchObject({ status: 408, headers: { connection: "close" } });
    expect(more).toEqual([]);
    expect(server.malformedRequests).toEqual([]);
  });

  it("is not answered again when the app refused it before its body", async () => {
    await using server = await startTestServer(shortLimits);
    using client = openRawClient(server.port);
    client.write(`${refused}Content-Length: 9\r\n\r\nabc`);
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual([413]);
    expect(server.malformedRequests).toEqual([]);
  });
});

describe("a body that breaks off", () => {
  it.each([
    ["in a broken chunk", (client: RawClient) => client.write(`${create}${chunked}${brokenChunk}`)],
    ["at the end of the connection", (client) => client.socket.end(`${create}Content-Length: 9\r\n\r\nabc`)],
    ["in its trailers", (client) => client.write(`${create}${chunked}0\r\nX: ${"y".repeat(17_000)}\r\n\r\n`)],
  ] satisfies [string, (client: RawClient) => void][])("%s is answered once, by the app", async (_where, send) => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    send(client);
    await client.closed;
    const statuses = client.answers().map(({ status }) => status);
    expect(statuses).toHaveLength(1);
    expect([400, 431]).toContain(statuses[0]);
    expect(server.malformedRequests).toEqual([]);
  });

  it("is not answered again when the app refused the request before it", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${refused}${chunked}3\r\nabc\r\n`);
    await client.received(1);
    client.write(brokenChunk);
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual([413]);
    expect(server.malformedRequests).toEqual([]);
  });

  it.each([
    ["a request that waits for it", create, [200, 400]],
    ["a request refused before it", refused, [200, 413]],
  ])("leaves the order of answers alone, behind %s", async (_name, request, expected) => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${slow}${request}${chunked}`);
    await expect.poll(() => server.handled).toHaveLength(2);
    client.write(brokenChunk);
    await new Promise((resolve) => setTimeout(resolve, 20));
    server.release();
    await client.closed;
    expect(client.answers().map(({ status }) => status)).toEqual(expected);
    expect(server.malformedRequests).toEqual([]);
  });
});
