// Every kind of request, in every state of the service. No response and no log line contains a key, SQL, a stack trace or a
// file path, each log line is one JSON object of known fields, and the number of metrics is bounded.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { openRawClient } from "@petstore/harness/network";
import { isLeak } from "@petstore/harness/responses";
import { expect, it } from "vitest";
import { type Answer, openSharedStore, openTestStore, type TestStore } from "./test-store.js";

const store = await openSharedStore({
  METRICS_PORT: "0",
  ANONYMOUS_REQUESTS_PER_MINUTE: "1000000",
  DATABASE_READ_TIMEOUT_MS: "1000",
  DATABASE_WRITE_TIMEOUT_MS: "1000",
});
const valid = await store.issueKey();
const pet = '{"name":"a-mauve-name","categoryId":1}';

/** Requests that have the key and the text in each place that takes any text. */
function everyRequest(key: string, text: string): readonly (readonly [line: string, headers: string, body?: string])[] {
  const withKey = `Authorization: Bearer ${key}\r\n`;
  const json = `${withKey}Content-Type: application/json\r\n`;
  const list = "GET /v1/pets HTTP/1.1";
  const create = "POST /v1/pets HTTP/1.1";
  return [
    [list, withKey],
    ...["limit", "status", "cursor", "api_key"].map(
      (name) => [`GET /v1/pets?${name}=${text} HTTP/1.1`, withKey] as const,
    ),
    [`GET /v1/pets?api_key=${key} HTTP/1.1`, ""],
    ...["pets/1", `pets/${text}`, `pets/${key}`, key, `${text}/%zz`].map(
      (path) => [`GET /v1/${path} HTTP/1.1`, withKey] as const,
    ),
    ["DELETE /v1/pets HTTP/1.1", withKey],
    ["OPTIONS /v1/pets HTTP/1.1", withKey],
    [`GET ${text} HTTP/1.1`, ""],
    [`${text} /v1/pets HTTP/1.1`, ""],
    [`${list}${text}`, ""],
    [list, `${text}: 1\r\n`],
    [list, `X-Forwarded-For: ${text}\r\nForwarded: for=${text}\r\nUser-Agent: ${text}\r\nOrigin: ${text}\r\n`],
    ...[`Bearer ${text}`, `Basic ${key}`, text].map((value) => [list, `Authorization: ${value}\r\n`] as const),
    ...[
      ...[`X-Request-Id: ${key}`, `X-Request-Id: trace/${key.toUpperCase()}`, `X-Request-Id: id${text}`],
      ...[`Traceparent: ${text}`, `Accept: ${text}`, "Accept: text/html", `Authorization: ${text}`, `Host: ${text}`],
    ].map((header) => [list, `${withKey}${header}\r\n`] as const),
    ...[key, text].map((type) => [create, `${withKey}Content-Type: ${type}\r\n`, pet] as const),
    [create, json, pet],
    [create, `${json}Idempotency-Key: ${key}\r\n`, pet],
    [create, `${json}Idempotency-Key: ${key}\r\n`, pet.replace("1", "2")],
    [create, `${json}Idempotency-Key: ${text}\r\n`, pet],
    [create, json, `${text} ${key}`],
    [create, json, JSON.stringify({ name: text, categoryId: text, [`${text}!`]: text, status: text, [key]: key })],
    [create, json, pet.padEnd(65_537)],
  ];
}

/** Sends the bytes unchanged, each request on a connection of its own. */
async function sendEvery({ port }: TestStore, key: string, text = "mauve", encoding: "utf8" | "latin1" = "utf8") {
  const sending = everyRequest(key, text).map(async ([line, headers, body = ""]) => {
    const bytes = Buffer.from(body, encoding);
    const framing = `Host: pets.example\r\nConnection: close\r\nContent-Length: ${bytes.length}\r\n`;
    using client = openRawClient(port);
    client.socket.end(Buffer.concat([Buffer.from(`${line}\r\n${framing}${headers}\r\n`, encoding), bytes]));
    await client.closed;
    return client.answers();
  });
  return (await Promise.all(sending)).flat();
}

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
];

it.each(hostile)("a log line is one JSON object of known fields when a client sends %j anywhere", async (text) => {
  const before = store.logged.length;
  const answers = [await sendEvery(store, valid.key, text), await sendEvery(store, valid.key, text, "latin1")].flat();
  await expect.poll(() => store.logged.length).toBeGreaterThanOrEqual(before + answers.length);
  const lines = store.logged.slice(before);
  for (const line of lines) expectKnownFields(line);
  expect(withoutIds(lines)).not.toContain("forged");
});

/** The statements that cause each fault of the database, and the statement that ends it. */
const faults = [
  ["alter table pets rename name to title", "alter table pets rename title to name"],
  [
    "alter table pets add constraint mauve check (name <> 'a-mauve-name') not valid",
    "alter table pets drop constraint mauve",
  ],
  ["begin; lock table pets in access exclusive mode", "rollback"],
  ["drop table pets cascade", "select"],
] as const;

it("all kinds of requests show no key, SQL, stack trace or file path", async () => {
  const revoked = await store.issueKey();
  await store.revokeKey(revoked.keyId);
  const expired = await store.issueKey({ expiresAt: new Date(0) });
  const free = await store.issueKey({ customLimits: { perMinute: 20, perDay: 1_000 } });
  const keys = [valid, revoked, expired, free].map(({ key }) => key);
  const before = store.logged.length;

  const answers: Answer[] = [];
  for (const key of [...keys, `${valid.key}x`, valid.key.toUpperCase()]) answers.push(...(await sendEvery(store, key)));
  await store.execute("begin");
  await store.execute(`insert into idempotency_keys values (${valid.accountId}, 'in use', '', 1, now())`);
  const inUse = { key: valid.key, body: pet, headers: { "Idempotency-Key": "in use" } };
  answers.push(await store.call("POST", "/v1/pets", inUse));
  await store.execute("rollback");
  for (const [breaking, mending] of faults) {
    await store.execute(breaking);
    answers.push(...(await sendEvery(store, valid.key)));
    await store.execute(mending);
  }

  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 201, 204, 400, 401, 404, 405, 406, 409, 413, 415, 422, 429, 500, 503]);
  const lines = store.logged.slice(before);
  expect(lines.some((line) => line.includes('"level":"error"'))).toBe(true);
  for (const line of lines) expectKnownFields(line);
  const ids = answers.map(({ headers }) => headers["x-request-id"] ?? "");
  for (const text of [...lines, ...ids, ...answers.map((answer) => answer.text)]) expectNoLeak(text, keys);
  // Log lines and errors do not contain the request's values or the database's message.
  expect(withoutIds(lines.filter((line) => line.includes('"level":"info"')))).not.toMatch(/mauve|limit=/);
  for (const { text } of answers.filter(({ status }) => status >= 400)) {
    expect(text).not.toMatch(/mauve|relation|column|constraint|42P01/);
  }
});

it("there are at most 1,200 series after every route and every outcome, and one has the version", async () => {
  // The table of the pets is gone. A page in memory would be used for 5 s.
  store.clock.nowMs += 6_000;
  const paths = ["/v1/pets", "/v1/pets/1", "/v1/pets/no", "/v1", "/", "/usage", "/openapi.json", "/v1/%zz", "/livez"];
  for (const path of [...paths, ...Array.from({ length: 20 }, (_, random) => `/${random}/../${random}`)]) {
    for (const method of ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "PROPFIND", "TRACE"]) {
      for (const caller of [{}, valid]) await store.call(method, path, caller);
    }
  }
  const inFlight = 'http_server_active_requests{http_request_method="GET",url_scheme="http"}';
  await expect.poll(async () => (await store.scrape()).get(inFlight)).toBe(0);
  const series = [...(await store.scrape()).keys()];
  expect(series.length).toBeLessThanOrEqual(1_200);
  expect(series.length).toBeGreaterThan(500);
  expect(series).toContainEqual(expect.stringMatching(/^petstore_build_info\{version="\d+\.\d+\.\d+"\}$/));
  const route = 'http_request_method="GET",http_route="/v1/pets",http_response_status_code="500",url_scheme="http"';
  expect(series).toContain(`http_server_request_duration_seconds_count{${route},error_type="INTERNAL_ERROR"}`);
  // Probes and scrapes are not counted.
  expect(series.filter((name) => /route="other"|livez|readyz|metrics"/.test(name))).toEqual([]);
});

it("an unavailable database shows no key and no database password", async () => {
  await using broken = await openTestStore({ DATABASE_URL: "postgres://keeper:a-password-of-ours@127.0.0.1:1/store" });
  const key = mintApiKey("live", randomBytes);
  const answers = await sendEvery(broken, key);
  expect(answers.some(({ status }) => status === 503)).toBe(true);
  for (const text of [...broken.logged, ...answers.map((answer) => answer.text)]) {
    expectNoLeak(text, [key]);
    expect(text).not.toContain("a-password-of-ours");
  }
});

const fields =
  /^(level|time|requestId|traceId|clientAddress|method|route|status|durationMs|account|key|code|aborted|error|msg)$/;

function expectKnownFields(line: string): void {
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  const entry = JSON.parse(line) as Record<string, unknown>;
  expect(Object.keys(entry).filter((name) => !fields.test(name))).toEqual([]);
  // No field appears twice: some readers take the first one, others the last one.
  expect(line).toBe(`${JSON.stringify(entry)}\n`);
  if (entry.level !== "info") return;
  expect(entry.requestId).toMatch(/^[\w.:+/=-]{1,128}$/);
  expect(entry.clientAddress).toBe("127.0.0.1");
  expect(entry.route).toMatch(/^(\/v1\/pets|\/v1\/pets\/\{petId\}|preflight|unmatched|malformed)$/);
}

/** A client may choose the id of its request. */
function withoutIds(lines: readonly string[]): string {
  return lines.join("").replaceAll(/"requestId":"[^"]*"/g, "");
}

function expectNoLeak(text: string, keys: readonly string[]): void {
  expect(text).not.toSatisfy(isLeak);
  // Also in upper case.
  for (const key of keys) expect(text.toLowerCase()).not.toContain(key.slice(10, 42).toLowerCase());
  // A file path.
  expect(text.replaceAll(/"route":"[^"]*"/g, "")).not.toMatch(/(^|[\s"'(:])\/[\w.-]+\/[\w.-]/);
}
