import { openRawClient, type RawClient } from "@petstore/harness/network";
import { describe, expect, it } from "vitest";
import { failOnCrashes } from "./crash-watch.js";
import { startTestServer } from "./test-server.js";

const host = "Host: pets.example\r\n";
const list = `GET /pets HTTP/1.1\r\n${host}\r\n`;
const slow = `GET /slow HTTP/1.1\r\n${host}\r\n`;
const create = `POST /pets HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabc`;
const createInChunks = `POST /pets HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
const maxOutstanding = 64;

failOnCrashes();

function statuses(client: RawClient): number[] {
  return client.answers().map(({ status }) => status);
}

function connectionHeaders(client: RawClient): (string | undefined)[] {
  return client.answers().map(({ headers }) => headers.connection);
}

const allButLastKeptAlive = [...Array(maxOutstanding - 1).fill("keep-alive"), "close"];

describe("a connection with more than 64 outstanding requests", () => {
  it("is answered 64 times, the last time with Connection: close", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(list.repeat(2_500));
    await client.closed;
    expect(statuses(client)).toEqual(Array(maxOutstanding).fill(200));
    expect(connectionHeaders(client)).toEqual(allButLastKeptAlive);
  });

  it("never shows the further requests to node:http or the app", async () => {
    await using server = await startTestServer();
    let created = 0;
    server.server.prependListener("request", () => {
      created += 1;
    });
    using client = openRawClient(server.port);
    client.write(list.repeat(2_500));
    await client.closed;
    expect([created, server.handled.length]).toEqual([maxOutstanding, maxOutstanding]);
    expect(server.malformedRequests).toEqual([]);
  });

  it.each([
    ["of known length", create],
    ["in chunks", createInChunks],
  ])("is answered in order with bodies %s in between", async (_name, withBody) => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(slow + (withBody + list).repeat(500));
    await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
    server.release();
    await client.closed;
    const bodies = [
      '{"slow":true}',
      ...Array(maxOutstanding / 2)
        .fill(['{"received":3}', "[]"])
        .flat(),
    ];
    expect(client.answers().map(({ text }) => text)).toEqual(bodies.slice(0, maxOutstanding));
    expect(connectionHeaders(client)).toEqual(allButLastKeptAlive);
  });

  it("still reads the body of the 64th request, which arrives later", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(`${slow}${list.repeat(maxOutstanding - 2)}POST /pets HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\n`);
    await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
    client.write(`abc${list}`);
    server.release();
    await client.closed;
    expect(statuses(client)).toEqual([...Array(maxOutstanding - 1).fill(200), 201]);
    expect(client.answers().at(-1)?.text).toBe('{"received":3}');
  });

  it("is answered 64 times where the requests arrive byte by byte", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(slow.repeat(maxOutstanding - 1));
    for (const byte of list + list) {
      client.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
    server.release();
    await client.closed;
    expect(connectionHeaders(client)).toEqual(allButLastKeptAlive);
  });

  it.each([
    ["a malformed request", "GET/bad\r\n\r\n"],
    ["CONNECT", `CONNECT pets.example:443 HTTP/1.1\r\n${host}\r\n`],
    ["a request for an upgrade", `GET /pets HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
    ["a request that expects 100-continue", `POST /pets HTTP/1.1\r\n${host}Expect: 100-continue\r\n\r\n`],
    ["headers that do not end", `GET /pets HTTP/1.1\r\n${host}`],
    ["a body that does not end", `POST /pets HTTP/1.1\r\n${host}Content-Length: 9\r\n\r\nabc`],
  ])("drops %s behind the 64th request", async (_name, bytes) => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(slow + list.repeat(maxOutstanding - 1) + bytes);
    await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
    server.release();
    await client.closed;
    expect(statuses(client)).toEqual(Array(maxOutstanding).fill(200));
    expect(connectionHeaders(client)).toEqual(allButLastKeptAlive);
    expect([server.handled.length, server.malformedRequests, server.faults]).toEqual([maxOutstanding, [], []]);
  });

  it("is answered readably, though the client reads only after it has sent everything", async () => {
    await using server = await startTestServer({ lingerMs: 5_000 });
    using client = openRawClient(server.port);
    client.socket.pause();
    // A reset would lose what the client has not read yet, and end this with an error.
    await new Promise<void>((resolve, reject) => {
      client.socket.once("error", reject);
      client.socket.end(list.repeat(100_000), resolve);
    });
    client.socket.resume();
    await client.closed;
    expect(statuses(client)).toEqual(Array(maxOutstanding).fill(200));
  });

  it("leaves every other connection alone", async () => {
    await using server = await startTestServer();
    using flooding = openRawClient(server.port);
    flooding.write(slow.repeat(2_500));
    await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
    using other = openRawClient(server.port);
    other.write(list + create);
    await other.received(2);
    expect(statuses(other)).toEqual([200, 201]);
  });

  it("ends at once with a service that stops", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(slow.repeat(2_500));
    await expect.poll(() => server.handled).toHaveLength(maxOutstanding);
    const drained = server.listener[Symbol.asyncDispose]();
    server.release();
    await Promise.all([client.closed, drained]);
    expect(statuses(client)).toEqual(Array(maxOutstanding).fill(200));
    expect(connectionHeaders(client).at(-1)).toBe("close");
  });
});

describe("a connection with fewer outstanding requests", () => {
  it("is kept at 63", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    client.write(list.repeat(maxOutstanding - 1));
    await client.received(maxOutstanding - 1);
    client.write(list);
    await client.received(maxOutstanding);
    expect(connectionHeaders(client)).toEqual(Array(maxOutstanding).fill("keep-alive"));
  });

  it("is kept for any number of requests, though one always follows another unanswered one", async () => {
    await using server = await startTestServer();
    using client = openRawClient(server.port);
    const requests = 3 * maxOutstanding;
    client.write(list + list);
    for (let answered = 1; answered <= requests - 2; answered += 1) {
      await client.received(answered);
      client.write(list);
    }
    await client.received(requests);
    expect(connectionHeaders(client)).toEqual(Array(requests).fill("keep-alive"));
  });
});
