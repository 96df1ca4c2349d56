// No log line and no body contains a key, SQL, a stack trace or a file path.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { expect, it } from "vitest";
import { body, everyRequest, everyRequestInEachFault } from "./every-request.js";
import { type Answer, openTestStore } from "./test-store.js";

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

  answers.push(...(await everyRequestInEachFault(store, valid.key)));

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

function expectSecret(text: string, keys: readonly string[]): void {
  for (const key of keys) expect(text.toLowerCase()).not.toContain(key.slice(10, 42).toLowerCase());
  expect(text).not.toMatch(/pets_(live|test)_(?!\[redacted\])/i);
  expect(text).not.toMatch(/select |insert into|update |delete from|returning|nextval|order by|"pets"\."|\$1/i);
  expect(text).not.toMatch(/ {4}at |\bat \S+:\d+|\.[cm]?[jt]s\b|node:|node_modules|file:/);
  expect(text).not.toContain(process.cwd());
  expect(text.replaceAll(/"route":"[^"]*"/g, "")).not.toMatch(/(^|[\s"'(:])\/[\w.-]+\/[\w.-]/);
}
