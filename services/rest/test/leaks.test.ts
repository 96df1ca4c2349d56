// No response and no log line contains a key, SQL, a stack trace or a file path, in any state of the service.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { isLeak } from "@petstore/harness/responses";
import { expect, it } from "vitest";
import { mauvePet, sendEveryRequest } from "./every-request.js";
import { expectKnownFields, withoutIds } from "./log-line.js";
import { type Answer, openTestStore } from "./test-store.js";

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
  await using store = await openTestStore({
    ANONYMOUS_REQUESTS_PER_MINUTE: "1000000",
    DATABASE_READ_TIMEOUT_MS: "1000",
    DATABASE_WRITE_TIMEOUT_MS: "1000",
  });
  const valid = await store.issueKey();
  const revoked = await store.issueKey();
  await store.revokeKey(revoked.keyId);
  const expired = await store.issueKey({ expiresAt: new Date(0) });
  const free = await store.issueKey({ customLimits: { perMinute: 20, perDay: 1_000 } });
  const keys = [valid, revoked, expired, free].map(({ key }) => key);
  const before = store.logged.length;

  const answers: Answer[] = [];
  for (const key of [...keys, `${valid.key}x`, valid.key.toUpperCase()])
    answers.push(...(await sendEveryRequest(store, key)));
  await store.execute("begin");
  await store.execute(`insert into idempotency_keys values (${valid.accountId}, 'in use', '', 1, now())`);
  const inUse = { key: valid.key, body: mauvePet, headers: { "Idempotency-Key": "in use" } };
  answers.push(await store.call("POST", "/v1/pets", inUse));
  await store.execute("rollback");
  for (const [breaking, mending] of faults) {
    await store.execute(breaking);
    answers.push(...(await sendEveryRequest(store, valid.key)));
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

it("an unavailable database shows no key and no database password", async () => {
  await using broken = await openTestStore({ DATABASE_URL: "postgres://keeper:a-password-of-ours@127.0.0.1:1/store" });
  const key = mintApiKey("live", randomBytes);
  const answers = await sendEveryRequest(broken, key);
  expect(answers.some(({ status }) => status === 503)).toBe(true);
  for (const text of [...broken.logged, ...answers.map((answer) => answer.text)]) {
    expectNoLeak(text, [key]);
    expect(text).not.toContain("a-password-of-ours");
  }
});

function expectNoLeak(text: string, keys: readonly string[]): void {
  expect(text).not.toSatisfy(isLeak);
  // Also in upper case.
  for (const key of keys) expect(text.toLowerCase()).not.toContain(key.slice(10, 42).toLowerCase());
  // A file path.
  expect(text.replaceAll(/"route":"[^"]*"/g, "")).not.toMatch(/(^|[\s"'(:])\/[\w.-]+\/[\w.-]/);
}
