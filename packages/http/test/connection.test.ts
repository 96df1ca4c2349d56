import { openRawClient, type RawClient } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import { failOnCrashes } from "./crash-watch.js";
import { answerPlainly, startTestServer } from "./test-server.js";

const host = "Host: pets.example\r\n";
const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
const list = `GET /pets HTTP/1.1\r\n${host}\r\n`;
const create = `POST /pets HTTP/1.1\r\n${host}`;
const refused = `POST /refused HTTP/1.1\r\n${host}`;
const connectRequest = `CONNECT pets.example:443 HTTP/1.1\r\n${host}\r\n`;
const mebibyte = 1024 * 1024;

failOnCrashes();

function statuses(client: RawClient): number[] {
  return client.answers().map(({ status }) => status);
}

/** Sends the bytes again and again until the connection is closed or `total` bytes are sent. */
async function pour({ socket, closed }: RawClient, bytes: Buffer, total: number): Promise<void> {
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  for (let sent = 0; sent < total && !isClosed && socket.writable; sent += bytes.length) {
    if (!socket.write(bytes)) {
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
    }
  }
}

const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, "x"), Buffer.from("\r\n")]);

describe("a request refused before its body", () => {
  it.each([
    ["of known length", `Content-Length: ${8 * mebibyte}\r\n\r\n`, Buffer.alloc(65_536), ""],
    ["in chunks", "Transfer-Encoding: chunked\r\n\r\n", chunk, "0\r\n\r\n"],
  ])("lets the client write all of a body %s, read its answer and ask again", async (_name, framing, bytes, end) => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(refused + framing);
    await pour(client, bytes, (8 * mebibyte * bytes.length) / 65_536);
    client.write(end + list);
    await client.received(2);
    expect(statuses(client)).toEqual([413, 200]);
  });

  it("is answered readably when it was to be the last on its connection", async () => {
    await using server = await startTestServer({ lingerMs: 500 });
    using client = openRawClient(server.port);
    client.socket.pause();
    client.write(`${refused}Connection: close\r\nContent-Length: ${4 * mebibyte}\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // A reset would lose what the client has not read yet, and end this with an error.
    await new Promise<void>((resolve, reject) => {
      client.socket.once("error", reject);
      client.socket.end(Buffer.alloc(4 * mebibyte), resolve);
    });
    client.socket.resume();
    await client.closed;
    expect(statuses(client)).toEqual([413]);
  });

  it("is cut off when its body does not end", async () => {
    await using server = await startTestServer({ maxDrainedBytes: mebibyte, lingerMs: 20 });
    let received = 0;
    server.server.on("connection", (socket) => {
      socket.once("close", () => {
        received = socket.bytesRead;
      });
    });
    using client = openRawClient(server.port);
    client.write(`${refused}Transfer-Encoding: chunked\r\n\r\n`);
    await Promise.race([pour(client, chunk, Number.POSITIVE_INFINITY), client.closed]);
    expect(statuses(client)).toEqual([413]);
    await expect.poll(() => received).toBeGreaterThan(mebibyte);
  });

  it("does not keep the requests pipelined behind it from being answered in order", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${refused}Content-Length: 3\r\n\r\nabc${list}${create}Content-Length: 3\r\n\r\nabc${list}`);
    await client.received(4);
    expect(statuses(client)).toEqual([413, 200, 201, 200]);
  });
});

describe("CONNECT", () => {
  it("is answered by the app, after the requests before it, and ends the connection", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${slow}${connectRequest}and some of what was to be tunnelled`);
    await expect.poll(() => server.handled).toHaveLength(1);
    server.release();
    await client.closed;
    const [, answer] = client.answers();
    expect(statuses(client)).toEqual([200, 404]);
    expect(answer?.headers).toMatchObject({ connection: "close" });
    expect(JSON.parse(answer?.text ?? "")).toMatchObject({ code: "ROUTE_NOT_FOUND", message: "No CONNECT." });
  });

  it("without Host is refused like any request", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write("CONNECT pets.example:443 HTTP/1.1\r\n\r\n");
    await client.closed;
    expect(statuses(client)).toEqual([400]);
  });
});

it.each([
  ["GET http://pets.example/pets", 200],
  ["GET HTTP://pets.example:80/pets?limit=1", 200],
  ["GET http://a:b:c/pets", 200],
  ["GET http://pets.example", 404],
  ["GET http://pets.example?limit=1", 404],
  ["GET other://pets.example", 404],
  ["OPTIONS *", 404],
])("hands %s to the app", async (requestLine, status) => {
  await using server = await startTestServer();
  using client = openRawClient(server.port);
  client.write(`${requestLine} HTTP/1.1\r\n${host}\r\n`);
  const [answer] = await client.received(1);
  expect(answer).toMatchObject({ status, headers: { "content-type": "application/json; charset=utf-8" } });
  expect(server.handled).toHaveLength(1);
});

it("answers a request for an upgrade as a plain one and keeps the connection", async () => {
  await using server = await startTestServer();
  using client = openRawClient(server.port);
  client.write(`GET /pets HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  await client.received(1);
  client.write(list);
  await client.received(2);
  expect(statuses(client)).toEqual([200, 200]);
});

describe("Expect", () => {
  it("100-continue lets the app refuse before the upload", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${refused}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`);
    await client.closed;
    expect(statuses(client)).toEqual([413]);
  });

  it("100-continue lets the app ask for the upload", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${create}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n`);
    await client.received(1);
    client.write(`abc${list}`);
    await client.received(3);
    expect(statuses(client)).toEqual([100, 201, 200]);
  });

  it("of anything else is ignored", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`GET /pets HTTP/1.1\r\n${host}Expect: a miracle\r\n\r\n`);
    await client.received(1);
    expect(statuses(client)).toEqual([200]);
  });
});

describe("a reset does not stop the process when it comes", () => {
  it.each([
    ["before a byte", ""],
    ["in the headers", "GET /pets HTTP/1.1\r\nHo"],
    ["in the body", `${create}Content-Length: 9\r\n\r\nabc`],
    ["in a body that was refused", `${refused}Content-Length: 9\r\n\r\nabc`],
    ["while an answer is prepared", slow],
    ["while several are prepared", slow + slow + list],
    ["while an answer is written", `GET /large HTTP/1.1\r\n${host}\r\n`],
    ["while a malformed request is answered", "GET/bad\r\n\r\n"],
    ["while a malformed request waits for its turn", `${slow}GET/bad\r\n\r\n`],
    ["during CONNECT", connectRequest],
    ["while CONNECT waits for its turn", slow + connectRequest],
  ])("%s", async (_moment, bytes) => {
    await using server = await startTestServer({}, async (problem, address) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return answerPlainly(problem, address);
    });
    using client = openRawClient(server.port);
    client.socket.pause();
    client.write(bytes);
    await new Promise((resolve) => setTimeout(resolve, 10));
    client.socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 10));
    server.release();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await fetch(`${server.listener.url}/pets`)).status).toBe(200);
    expect(server.faults).toEqual([]);
  });
});

it("bears a silent client longer than its request is waited for, so that it is told 408 before it is cut off", async () => {
  await using server = await startTestServer();
  const checkedEveryMs = 5_000;
  expect(server.server.timeout).toBeGreaterThan(server.server.requestTimeout + 2 * checkedEveryMs);
});
