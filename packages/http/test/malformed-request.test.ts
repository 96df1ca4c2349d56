import { setTimeout as sleep } from "node:timers/promises";
import { type ProblemCode, problems } from "@petstore/core";
import { expect } from "vitest";
import type { ServerLimits } from "../src/server/limits.js";
import { chunked, create, host, it, list, refused, slow, statuses } from "./it.js";
import { startTestServer } from "./test-server.js";

const bad = "GET/bad\r\n\r\n";
const brokenChunk = "no chunk size\r\n";
const largeField = `X: ${"y".repeat(17_000)}\r\n\r\n`;
const cutBody = "Content-Length: 9\r\n\r\n123";
const start = `GET /pets HTTP/1.1\r\n${host}`;
const slowLast = `GET /slow HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
const malformed = "MALFORMED_REQUEST";
const impatient = { limits: { headersTimeoutMs: 1_000, requestTimeoutMs: 2_000, timeoutCheckMs: 20 } };

it.for<[string, string | Buffer]>([
  ["an unknown method", `BREW /pets HTTP/1.1\r\n${host}\r\n`],
  ["a space before the colon", `GET /pets HTTP/1.1\r\n${host}X : y\r\n\r\n`],
  ["a folded header", `GET /pets HTTP/1.1\r\n${host}X: y\r\n z\r\n\r\n`],
  ["bare line feeds", "GET /pets HTTP/1.1\nHost: x\n\n"],
  ["Content-Length with Transfer-Encoding", `${create}Content-Length: 3\r\n${chunked}0\r\n\r\n`],
  ["two Content-Length headers", `${create}Content-Length: 3\r\nContent-Length: 4\r\n\r\n1234`],
  ["a TLS handshake", Buffer.from("16030100c8010000c40303", "hex")],
])("a request that the parser refuses gets the Error body, once: %s", async ([_name, bytes], { server, client }) => {
  client.write(bytes);
  await client.closed;
  const [answer, ...more] = client.answers();
  expect(answer).toMatchObject({ status: 400, json: { code: malformed, status: 400 } });
  expect(answer?.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": `${answer?.text.length}`,
    connection: "close",
    date: expect.stringContaining("GMT"),
  });
  expect([more, server.handled, server.malformedRequests]).toEqual([[], [], [malformed]]);
});

const timedOut = { ...impatient, waitMs: 2_200 };
const brokenLater = { later: brokenChunk, waitMs: 20 };

/** The status of each answer of the app, and the code of each request that is answered without the app. */
type Outcomes = readonly (number | ProblemCode)[];

interface Conversation {
  readonly limits?: Partial<ServerLimits>;
  readonly isHalfClosed?: boolean;
  /** The client sends these bytes when all requests are handled or refused. */
  readonly later?: string;
  /** The time from then until the slow requests are answered. */
  readonly waitMs?: number;
}

it.for<readonly [what: string, bytes: string, Outcomes, Conversation?]>([
  ["headers of more than 16 KiB get 431", start + largeField, ["HEADERS_TOO_LARGE"]],
  ["a malformed request is answered once, in its turn", slow + list + bad, [200, 200, malformed], { later: bad }],
  ["a malformed request is answered to a half-closed client", list + bad, [200, malformed], { isHalfClosed: true }],
  ["a malformed request has one answer, also after its timeout", slow + bad, [200, malformed], timedOut],
  ["a request behind the last one of its connection is ignored", slowLast + list, [200]],
  ["requests are answered to a half-closed client", slow + slow, [200, 200], { isHalfClosed: true }],
  ["headers that do not end get 408", list + start, [200, "REQUEST_TIMEOUT"], { ...impatient, later: "\r\n" }],
  ["a connection without a first byte gets no response", "", [], impatient],
  ["a body that does not end gets no 408 if its request was refused", refused + cutBody, [413], impatient],
  ["a body that does not end gets one 408, from the app", create + cutBody, [408], impatient],
  ["a broken chunk is answered once, by the app", create + chunked + brokenChunk, [400]],
  ["a body that ends too early is answered once, by the app", create + cutBody, [400], { isHalfClosed: true }],
  ["too large trailers are answered once, by the app", `${create}${chunked}0\r\n${largeField}`, [431]],
  ["a broken chunk is answered in its turn", slow + create + chunked, [200, 400], brokenLater],
  ["a refused request gets no second answer in its turn", slow + refused + chunked, [200, 413], brokenLater],
  ["a refused request gets no second answer", `${refused}${chunked}3\r\n123\r\n`, [413], { later: brokenChunk }],
])("%s", async ([_promise, bytes, outcomes, conversation = {}]) => {
  const { limits, isHalfClosed, later, waitMs } = conversation;
  await using server = await startTestServer(limits);
  using client = server.connect();
  client.write(bytes);
  if (isHalfClosed) client.socket.end();
  const reached = () => [...server.handled, ...server.malformedRequests];
  await expect.poll(reached).toHaveLength(outcomes.length);
  if (later !== undefined) client.write(later);
  await sleep(waitMs);
  server.release();
  await client.closed;
  const refusals = outcomes.filter((outcome) => typeof outcome === "string");
  expect(statuses(client)).toEqual(outcomes.map((one) => (typeof one === "string" ? problems[one].status : one)));
  expect(server.malformedRequests).toEqual(refusals);
  expect(reached()).toHaveLength(outcomes.length);
  const answer = client.answers().at(-1);
  if (answer?.status === 408) expect(answer.headers.connection).toBe("close");
});
