// A line of the log is one JSON object of known fields, whatever clients put into what they send.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestStore, type TestStore } from "./test-store.js";

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store[Symbol.asyncDispose]());

const fields = new Set([
  "level",
  "time",
  "requestId",
  "traceId",
  "method",
  "route",
  "status",
  "durationMs",
  "account",
  "key",
  "code",
  "aborted",
  "error",
  "msg",
]);

/** What would begin a line of its own, end the string it stands in, or speak to a terminal. */
const hostile = [
  "\r\n",
  "\n",
  '\n{"level":"info","requestId":"forged","status":200}\n',
  '","status":200,"forged":"yes',
  "\\",
  "\u001b[2J\u001b[31mforged\u001b[0m",
  "\u0000",
  "\u0007\u0008",
  "\u0085\u009b31m",
  "\u2028\u2029",
  "\u202eforged",
  "\ud800",
  "😀",
  "%0d%0aforged",
  "$\u007bjndi:ldap://forged}",
];

/** Sends the bytes as they are, and waits until they are answered and the connection is closed. */
function sendRaw(bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: store.port }, () => socket.end(bytes));
    socket.resume().on("error", () => {});
    socket.once("close", () => resolve());
  });
}

function request(parts: { line?: string; headers?: string; body?: string }, encoding: "utf8" | "latin1"): Buffer {
  const body = Buffer.from(parts.body ?? "", encoding);
  const head =
    `${parts.line ?? "GET /v1/pets HTTP/1.1"}\r\nHost: pets.example\r\nConnection: close\r\n` +
    `Content-Length: ${body.length}\r\n${parts.headers ?? ""}\r\n`;
  return Buffer.concat([Buffer.from(head, encoding), body]);
}

describe("a log line", () => {
  it.each(hostile)("is one JSON object of known fields when a client sends %j anywhere", async (text) => {
    const { key } = await store.issueKey();
    const authorization = `Authorization: Bearer ${key}\r\n`;
    const json = "Content-Type: application/json\r\n";
    const places: Parameters<typeof request>[0][] = [
      { line: `GET /v1/pets/${text} HTTP/1.1`, headers: authorization },
      { line: `GET /v1/pets?status=${text} HTTP/1.1`, headers: authorization },
      { line: `GET ${text} HTTP/1.1` },
      { line: `${text} /v1/pets HTTP/1.1` },
      { line: `GET /v1/pets HTTP/1.1${text}` },
      { headers: `X-Request-Id: ${text}\r\n` },
      { headers: `X-Request-Id: id${text}\r\n${authorization}` },
      { headers: `Traceparent: ${text}\r\n${authorization}` },
      { headers: `Authorization: Bearer ${text}\r\n` },
      { headers: `Authorization: ${text}\r\n` },
      { headers: `${authorization}Accept: ${text}\r\n` },
      { headers: `X-Forwarded-For: ${text}\r\nForwarded: for=${text}\r\nUser-Agent: ${text}\r\nOrigin: ${text}\r\n` },
      { headers: `${text}: 1\r\n` },
      { line: "POST /v1/pets HTTP/1.1", headers: `${authorization}Content-Type: ${text}\r\n`, body: "{}" },
      { line: "POST /v1/pets HTTP/1.1", headers: `${authorization}${json}Idempotency-Key: ${text}\r\n`, body: "{}" },
      { line: "POST /v1/pets HTTP/1.1", headers: `${authorization}${json}`, body: text },
      {
        line: "POST /v1/pets HTTP/1.1",
        headers: `${authorization}${json}`,
        body: JSON.stringify({ name: text, categoryId: text, [text]: text, status: text }),
      },
    ];
    const before = store.logged.length;
    for (const place of places) {
      for (const encoding of ["utf8", "latin1"] as const) await sendRaw(request(place, encoding));
    }
    await expect.poll(() => store.logged.length).toBeGreaterThanOrEqual(before + 2 * places.length);
    for (const line of store.logged.slice(before)) {
      expect(line).toMatch(/^[\x20-\x7e]+\n$/);
      const entry = JSON.parse(line) as Record<string, unknown>;
      expect(Object.keys(entry).filter((name) => !fields.has(name))).toEqual([]);
      // No field twice: the last one would win in some readers, the first one in others.
      expect(line).toBe(`${JSON.stringify(entry)}\n`);
      const { requestId, ...rest } = entry;
      expect(requestId).toMatch(/^[\w.:+/=-]{1,128}$/);
      expect(JSON.stringify(rest)).not.toContain("forged");
      if (entry.level === "info")
        expect(entry.route).toMatch(/^(\/v1\/pets|\/v1\/pets\/\{petId\}|unmatched|unparsed)$/);
    }
  });

  it("tells request id, method, route template, status, duration, account, key and problem", async () => {
    const { key, keyId, accountId } = await store.issueKey();
    const before = store.logged.length;
    const { headers } = await store.call("GET", "/v1/pets/77777?x=1", { key });
    await expect.poll(() => store.logged.length).toBe(before + 1);
    expect(JSON.parse(store.logged.at(-1) ?? "")).toEqual({
      level: "info",
      time: expect.any(Number),
      requestId: headers["x-request-id"],
      method: "GET",
      route: "/v1/pets/{petId}",
      status: 404,
      durationMs: 0,
      account: `${accountId}`,
      key: `${keyId}`,
      code: "PET_NOT_FOUND",
    });
  });
});
