// A log line is one JSON object with known fields, and no request can change that.
import { openRawClient } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();

const fields = new Set(
  "level time requestId traceId clientAddress method route status durationMs operationType operationName cost account key code aborted error msg".split(
    " ",
  ),
);

/** Texts that start a new line, end a JSON string or control a terminal. */
const hostile = [
  "\r\n",
  '\n{"level":"info","requestId":"forged","status":200}\n',
  '","status":200,"forged":"yes',
  "\\",
  "\u001b[2J\u001b[31mforged\u001b[0m",
  "\u0000",
  "\u0085\u009b31m",
  "\u2028\u2029",
  "\u202eforged",
  "\ud800",
  "😀",
  "%0d%0aforged",
  "$\u007bjndi:ldap://forged}",
];

/** Sends the bytes unchanged, and waits for the response and the end of the connection. */
async function sendRaw(bytes: Buffer): Promise<void> {
  using client = openRawClient(store.port);
  client.socket.end(bytes);
  await client.closed;
}

function request(line: string, headers: string, body: string, encoding: "utf8" | "latin1"): Buffer {
  const bytes = Buffer.from(body, encoding);
  const head = `${line}\r\nHost: pets.example\r\nConnection: close\r\nContent-Length: ${bytes.length}\r\n${headers}\r\n`;
  return Buffer.concat([Buffer.from(head, encoding), bytes]);
}

it.each(hostile)("a log line is one JSON object of known fields when a client sends %j anywhere", async (text) => {
  const { key } = await store.issueKey();
  const withKey = `Authorization: Bearer ${key}\r\n`;
  const list = "GET /v1/pets HTTP/1.1";
  const create = "POST /v1/pets HTTP/1.1";
  const json = `${withKey}Content-Type: application/json\r\n`;
  const places: [line: string, headers: string, body?: string][] = [
    [`GET /v1/pets/${text} HTTP/1.1`, withKey],
    [`GET /v1/pets?status=${text} HTTP/1.1`, withKey],
    [`GET ${text} HTTP/1.1`, ""],
    [`${text} /v1/pets HTTP/1.1`, ""],
    [`${list}${text}`, ""],
    [list, `X-Request-Id: ${text}\r\n`],
    [list, `X-Request-Id: id${text}\r\n${withKey}`],
    [list, `Traceparent: ${text}\r\n${withKey}`],
    [list, `Authorization: Bearer ${text}\r\n`],
    [list, `Authorization: ${text}\r\n`],
    [list, `${withKey}Accept: ${text}\r\n`],
    [list, `X-Forwarded-For: ${text}\r\nForwarded: for=${text}\r\nUser-Agent: ${text}\r\nOrigin: ${text}\r\n`],
    [list, `${text}: 1\r\n`],
    [create, `${withKey}Content-Type: ${text}\r\n`, "{}"],
    [create, `${json}Idempotency-Key: ${text}\r\n`, "{}"],
    [create, json, text],
    [create, json, JSON.stringify({ name: text, categoryId: text, [text]: text, status: text })],
  ];
  const before = store.logged.length;
  for (const [line, headers, body = ""] of places) {
    for (const encoding of ["utf8", "latin1"] as const) await sendRaw(request(line, headers, body, encoding));
  }
  await expect.poll(() => store.logged.length).toBeGreaterThanOrEqual(before + 2 * places.length);
  for (const line of store.logged.slice(before)) {
    expect(line).toMatch(/^[\x20-\x7e]+\n$/);
    const entry = JSON.parse(line) as Record<string, unknown>;
    expect(Object.keys(entry).filter((name) => !fields.has(name))).toEqual([]);
    // No field appears twice: some readers take the first one, others the last one.
    expect(line).toBe(`${JSON.stringify(entry)}\n`);
    const { requestId, ...rest } = entry;
    expect(requestId).toMatch(/^[\w.:+/=-]{1,128}$/);
    expect(JSON.stringify(rest)).not.toContain("forged");
    if (entry.level !== "info") continue;
    expect(entry.clientAddress).toBe("127.0.0.1");
    expect(entry.route).toMatch(/^(\/v1\/pets|\/v1\/pets\/\{petId\}|unmatched|malformed)$/);
  }
});

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

it("a log line contains message, trace of the client, request id, address, method, route template, status, duration, account, key and problem", async () => {
  const { key, keyId, accountId } = await store.issueKey();
  const answer = await store.call("GET", "/v1/pets/77777?x=1", { key, headers: { traceparent } });
  expect(await store.lineOf(answer)).toEqual({
    level: "info",
    time: expect.any(Number),
    msg: "request completed",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    requestId: answer.headers["x-request-id"],
    clientAddress: "127.0.0.1",
    method: "GET",
    route: "/v1/pets/{petId}",
    status: 404,
    durationMs: 0,
    account: `${accountId}`,
    key: `${keyId}`,
    code: "PET_NOT_FOUND",
  });
});

it.each([
  ["a later version", traceparent.replace(/^00/, "cc"), true],
  ["a later version with more fields", `${traceparent.replace(/^00/, "cc")}-more-01`, true],
  ["a later version with longer flags", `${traceparent.replace(/^00/, "cc")}0`, false],
  ["two values", `${traceparent.replace(/^00/, "cc")}-more, ${traceparent}`, false],
  ["version 00 with more fields", `${traceparent}-more`, false],
  ["version ff", traceparent.replace(/^00/, "ff"), false],
])("a log line contains the trace of the client if traceparent has %s: %s %s", async (_what, sent, isRead) => {
  const answer = await store.call("GET", "/v1/pets", { headers: { traceparent: sent } });
  expect((await store.lineOf(answer)).traceId).toBe(isRead ? "4bf92f3577b34da6a3ce929d0e0e4736" : undefined);
});

it("a log line contains the account and the id of a revoked key", async () => {
  // The requests above have used up the minute of this address.
  store.clock.nowMs += 60_000;
  const { key, keyId, accountId } = await store.issueKey();
  await store.revokeKey(keyId);
  const answer = await store.call("GET", "/v1/pets", { key });
  expect(await store.lineOf(answer)).toMatchObject({
    status: 401,
    account: `${accountId}`,
    key: `${keyId}`,
    code: "API_KEY_REVOKED",
  });
});
