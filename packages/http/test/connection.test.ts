import { once } from "node:events";
import type { Socket } from "node:net";
import type { RawClient } from "@petstore/harness/network";
import { describe, expect } from "vitest";
import { chunked, create, host, it, large, list, refused, sendAllThenRead, slow, statuses } from "./it.js";
import { startTestServer } from "./test-server.js";

const connectRequest = `CONNECT pets.example:443 HTTP/1.1\r\n${host}\r\n`;
const mebibyte = 1024 * 1024;
const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, "x"), Buffer.from("\r\n")]);

/** Sends the bytes again and again until the connection is closed or `total` bytes are sent. */
async function pour(client: RawClient, bytes: Buffer, total: number): Promise<void> {
  for (let sent = 0; sent < total && !client.isClosed(); sent += bytes.length) {
    await Promise.race([client.send(bytes), client.closed]);
  }
}

describe("a request refused before its body", () => {
  it.for([
    ["of known length", `Content-Length: ${8 * mebibyte}\r\n\r\n`, Buffer.alloc(65_536), ""],
    ["in chunks", chunked, chunk, "0\r\n\r\n"],
  ] as const)(
    "lets the client write the whole body %s, read the response and send another request",
    async ([_name, framing, bytes, end], { client }) => {
      client.write(refused + framing);
      await pour(client, bytes, (8 * mebibyte * bytes.length) / 65_536);
      client.write(end + list);
      await client.received(2);
      expect(statuses(client)).toEqual([413, 200]);
    },
  );

  it("is answered readably when it was to be the last on its connection", async () => {
    await using server = await startTestServer({ lingerMs: 500 });
    using client = server.connect();
    client.socket.pause();
    client.write(`${refused}Connection: close\r\nContent-Length: ${4 * mebibyte}\r\n\r\n`);
    await expect.poll(() => server.handled).toHaveLength(1);
    await sendAllThenRead(client, Buffer.alloc(4 * mebibyte));
    expect(statuses(client)).toEqual([413]);
  });

  it("is cut off when its body does not end", async () => {
    await using server = await startTestServer({ maxDrainedBytes: mebibyte, lingerMs: 20 });
    const left = server.nextClosed();
    using client = server.connect();
    client.write(refused + chunked);
    await pour(client, chunk, Number.POSITIVE_INFINITY);
    expect(statuses(client)).toEqual([413]);
    expect((await left).bytesRead).toBeGreaterThan(mebibyte);
  });
});

describe("a body in chunks", () => {
  const blanks = (bytes: number) => `${bytes.toString(16)}\r\n${" ".repeat(bytes)}\r\n`;
  const end = "1\r\n7\r\n0\r\n\r\n";

  it.for([
    ["1,000 chunks of 1 byte", blanks(1).repeat(999)],
    ["1,900 chunks of 34 bytes", blanks(34).repeat(1_899)],
  ] as const)("is read if it has %s, and the connection is kept", async ([_what, chunks], { client }) => {
    client.write(create + chunked + chunks + end + list);
    const answers = await client.received(2);
    expect(answers).toMatchObject([{ status: 201, json: { received: 7 } }, { status: 200 }]);
  });

  it.for([
    ["that the app reads", create],
    ["of a refused request", refused],
  ] as const)(
    "%s gets 413 if it has more chunks of 1 byte, and nothing more is parsed",
    async ([_which, request], { server, client }) => {
      client.write(request + chunked + blanks(1).repeat(1_100));
      await client.closed;
      expect(client.answers()).toMatchObject([{ status: 413, json: { code: "PAYLOAD_TOO_LARGE", status: 413 } }]);
      expect([server.handled.length, server.malformedRequests, server.faults]).toEqual([1, [], []]);
    },
  );

  it.for([
    ["that the app reads", create],
    ["of a refused request", refused],
  ] as const)(
    "%s gets a readable 413, though the client reads only after 4 MiB of tiny chunks",
    async ([_which, request]) => {
      await using server = await startTestServer({ lingerMs: 5_000 });
      using client = server.connect();
      await sendAllThenRead(client, request + chunked + blanks(1).repeat(700_000) + end + list);
      expect(statuses(client)).toEqual([413]);
    },
  );
});

const body = "Content-Length: 3\r\n\r\n123";
const upgrade = `GET /pets HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
const expecting = "Expect: 100-continue\r\n";
it.for([
  ["a request for an upgrade like any other, and keeps the connection", upgrade, list, [200, 200]],
  ["Expect: 100-continue as the app decides, with a refusal", refused + expecting + body, "", [413]],
  [
    "Expect: 100-continue as the app decides, with 100",
    `${create}${expecting}Content-Length: 3\r\n\r\n`,
    `123${list}`,
    [100, 201, 200],
  ],
  [
    "HTTP/1.0 without 100, and keeps the connection if it is asked to",
    `${create}${expecting}Connection: keep-alive\r\n${body}`.replace("HTTP/1.1", "HTTP/1.0"),
    list,
    [201, 200],
  ],
] as const)("answers %s", async ([_what, first, later, expected], { client }) => {
  client.write(first);
  await client.received(1);
  client.write(later);
  await client.received(expected.length);
  expect(statuses(client)).toEqual(expected);
});

it.for([
  ["reads a body in 1,000 pieces", 1_000, 201],
  ["refuses a body in 1,001 pieces", 1_001, 413],
] as const)("%s, however small they are", async ([_what, pieces, status], { client }) => {
  const chunks = `1\r\n1\r\n${"1\r\n \r\n".repeat(pieces - 1)}0\r\n\r\n`;
  client.write(`${create}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
  const [answer] = await client.received(1);
  expect(answer?.status).toBe(status);
});

it("CONNECT is answered by the app, after the requests before it, and ends the connection", async ({
  server,
  client,
}) => {
  client.write(`${slow}${connectRequest}and some bytes for the tunnel`);
  await expect.poll(() => server.handled).toHaveLength(2);
  server.release();
  await client.closed;
  const json = { code: "ROUTE_NOT_FOUND", message: "No CONNECT." };
  expect(client.answers()).toMatchObject([{ status: 200 }, { status: 404, json, headers: { connection: "close" } }]);
});

it.for([
  ["GET http://pets.example/pets", 200],
  ["GET http://a:b:c/pets", 200],
  ["OPTIONS *", 404],
] as const)("hands %s to the app", async ([requestLine, status], { server, client }) => {
  client.write(`${requestLine} HTTP/1.1\r\n${host}\r\n`);
  const [answer] = await client.received(1);
  expect(answer).toMatchObject({ status, headers: { "content-type": "application/json; charset=utf-8" } });
  expect(server.handled).toHaveLength(1);
});

it.each([
  ["before a byte", ""],
  ["in the headers", "GET /pets HTTP/1.1\r\nHo"],
  ["in the body", `${create}Content-Length: 9\r\n\r\n123`],
  ["in a body that was refused", `${refused}Content-Length: 9\r\n\r\n123`],
  ["while several responses are prepared", slow + slow + list],
  ["while a response is written", large],
  ["while a malformed request is answered", "GET/bad\r\n\r\n"],
  ["while a malformed request waits for its turn", `${slow}GET/bad\r\n\r\n`],
  ["during CONNECT", connectRequest],
  ["while CONNECT waits for its turn", slow + connectRequest],
])("a reset does not stop the process when it comes %s", async (_moment, bytes) => {
  await using server = await startTestServer();
  const connected: Promise<Socket[]> = once(server.server, "connection");
  const left = server.nextClosed();
  using client = server.connect();
  client.socket.pause();
  client.write(bytes);
  const [socket] = await connected;
  await expect.poll(() => socket?.bytesRead, { interval: 1 }).toBe(bytes.length);
  client.socket.resetAndDestroy();
  await left;
  server.release();
  expect((await fetch(`${server.listener.url}/pets`)).status).toBe(200);
  // Each response is closed once, also one that waited for its turn: its log line and its metrics depend on it.
  await expect.poll(() => server.closed).toHaveLength(server.handled.length + server.malformedRequests.length);
  expect(server.faults).toEqual([]);
});
