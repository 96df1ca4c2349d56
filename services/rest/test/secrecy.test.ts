// No log line and no body contains a key, SQL, a stack trace or a file path.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { expect, it } from "vitest";
import { type Answer, type CallOptions, openTestStore, type TestStore } from "./test-store.js";

const body = '{"name":"a-mauve-name","categoryId":1}';

it("all kinds of requests show no key, SQL, stack trace or file path", async () => {
  await using store = await openTestStore({ DATABASE_READ_TIMEOUT_MS: "3000", DATABASE_WRITE_TIMEOUT_MS: "3000" });
  const valid = await store.issueKey();
  const revoked = await store.issueKey();
  await store.revokeKey(revoked.keyId);
  const expired = await store.issueKey({ expiresAt: new Date(0) });
  const free = await store.issueKey({ plan: "free" });
  const keys = [valid, revoked, expired, free].map(({ key }) => key);

  const answers: Answer[] = [];
  for (const key of [...keys, `${valid.key}x`, valid.key.toUpperCase()])
    answers.push(...(await everyRequest(store, key)));
  answers.push(...(await Promise.all(Array.from({ length: 90 }, () => store.call("GET", "/v1/pets", free)))));
  await store.execute("begin");
  await store.execute(`insert into idempotency_keys values (${valid.accountId}, 'in use', '', 1, now())`);
  const inUse = { key: valid.key, body, headers: { "Idempotency-Key": "in use" } };
  answers.push(await store.call("POST", "/v1/pets", inUse));
  await store.execute("rollback");
  expect(store.logged.join("")).not.toMatch(/mauve|limit=/);

  for (const [breaking, mending] of faults) {
    for (const sql of breaking) await store.execute(sql);
    answers.push(...(await everyRequest(store, valid.key)));
    for (const sql of mending) await store.execute(sql);
  }

  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 201, 204, 400, 401, 404, 405, 406, 409, 413, 415, 422, 429, 500, 503]);
  expect(store.logged.some((line) => line.includes('"level":"error"'))).toBe(true);
  for (const text of [...store.logged, ...answers.map((answer) => answer.text)]) expectSecret(text, keys);
  for (const { headers } of answers) expectSecret(headers["x-request-id"] ?? "", keys);
  // Errors do not contain the request's values or the database's message.
  for (const { text } of answers.filter(({ status }) => status >= 400)) {
    expect(text).not.toMatch(/mauve|relation|column|constraint|42P01/);
  }
});

it("an unavailable database shows no key and no database password", async () => {
  await using store = await openTestStore({ DATABASE_URL: "postgres://keeper:a-password-of-ours@127.0.0.1:1/store" });
  const key = mintApiKey("live", randomBytes);
  const answers = await everyRequest(store, key);
  expect(answers.some(({ status }) => status === 503)).toBe(true);
  for (const text of [...store.logged, ...answers.map((answer) => answer.text)]) {
    expectSecret(text, [key]);
    expect(text).not.toContain("a-password-of-ours");
  }
});

/** The statements that cause each fault, and the statements that end it. */
const faults: [breaking: string[], mending: string[]][] = [
  [["alter table pets rename name to title"], ["alter table pets rename title to name"]],
  [
    ["alter table pets add constraint no_mauve check (name <> 'a-mauve-name') not valid"],
    ["alter table pets drop constraint no_mauve"],
  ],
  [["begin", "lock table pets in access exclusive mode"], ["rollback"]],
  [["drop table pets cascade"], []],
];

async function everyRequest(store: TestStore, key: string): Promise<Answer[]> {
  const requests: [method: string, path: string, options: CallOptions][] = [
    ["GET", "/v1/pets", { key }],
    ["GET", "/v1/pets?limit=mauve", { key }],
    ["GET", "/v1/pets?cursor=mauve", { key }],
    ["GET", `/v1/pets?api_key=${key}`, {}],
    ["GET", `/v1/pets?api_key=${key}`, { key }],
    ["GET", "/v1/pets/1", { key }],
    ["GET", `/v1/pets/${key}`, { key }],
    ["GET", `/v1/${key}`, { key }],
    ["GET", "/v1/mauve/%zz", { key }],
    ["DELETE", "/v1/pets", { key }],
    ["GET", "/v1/pets", { key, headers: { Accept: "text/html", "X-Request-Id": key } }],
    ["GET", "/v1/pets", { key, headers: { "X-Request-Id": `trace/${key.toUpperCase()}` } }],
    ["GET", "/v1/pets", { headers: { Authorization: [`Bearer ${key}`, "Bearer mauve"] } }],
    ["GET", "/v1/pets", { headers: { Authorization: `Basic ${key}` } }],
    ["GET", "/v1/pets", { key, headers: { Host: "mauve example" } }],
    ["POST", "/v1/pets", { key, body }],
    ["POST", "/v1/pets", { key, body, headers: { "Idempotency-Key": key } }],
    ["POST", "/v1/pets", { key, body: body.replace("1", "2"), headers: { "Idempotency-Key": key } }],
    ["POST", "/v1/pets", { key, body: `{"${key}":"mauve"}` }],
    ["POST", "/v1/pets", { key, body: `mauve ${key}` }],
    ["POST", "/v1/pets", { key, body: body.padEnd(65_537) }],
    ["POST", "/v1/pets", { key, body, headers: { "Content-Type": key } }],
    ["OPTIONS", "/v1/pets", { key }],
  ];
  const answers: Answer[] = [];
  for (const request of requests) answers.push(await store.call(...request));
  return answers;
}

function expectSecret(text: string, keys: readonly string[]): void {
  for (const key of keys) expect(text.toLowerCase()).not.toContain(key.slice(10, 42).toLowerCase());
  expect(text).not.toMatch(/pets_(live|test)_(?!\[redacted\])/i);
  expect(text).not.toMatch(/select |insert into|update |delete from|returning|nextval|order by|"pets"\."|\$1/i);
  expect(text).not.toMatch(/ {4}at |\bat \S+:\d+|\.[cm]?[jt]s\b|node:|node_modules|file:/);
  expect(text).not.toContain(process.cwd());
  expect(text.replaceAll(/"route":"[^"]*"/g, "")).not.toMatch(/(^|[\s"'(:])\/[\w.-]+\/[\w.-]/);
}
