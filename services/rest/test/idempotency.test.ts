// Idempotency keys over time. packages/core/test tests creates at the same time, and tools/checks/conformance/contract the
// other rules.
import { describe, expect, it } from "vitest";
import { type Answer, openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

const body = '{"name":"Ada","categoryId":1}';
const create = (idempotencyKey: string | readonly string[], { sent = body } = {}): Promise<Answer> =>
  store.call("POST", "/v1/pets", { key, body: sent, headers: { "Idempotency-Key": idempotencyKey } });
const countPets = () => store.execute("select count(*) from pets");

it("a key is stored for 24 hours by the clock of PostgreSQL, although that of the instance is 25 hours ahead", async () => {
  const age = (hours: number) =>
    store.execute(`update idempotency_keys set created_at = now() - interval '${hours} hours' where key = 'a day'`);
  const first = await create("a day");
  store.clock.nowMs += 25 * 3_600_000;
  await age(23);
  expect(await create("a day")).toMatchObject({ text: first.text, headers: { "idempotency-replayed": "true" } });
  await age(24);
  const sent = '{"name":"Bo","categoryId":1}';
  const later = await create("a day", { sent });
  expect([later.status, later.headers["idempotency-replayed"]]).toEqual([201, undefined]);
  expect((await create("a day", { sent })).text).toBe(later.text);
});

describe("the Idempotency-Key header", () => {
  it.each([
    ["abc", '"abc"'],
    ['a"b', '"a\\"b"'],
    ["a\\b", '"a\\\\b"'],
  ])("%s is the same key with and without quotes", async (bare, quoted) => {
    const first = await create(bare);
    const again = await create(quoted);
    expect([again.text, again.headers["idempotency-replayed"]]).toEqual([first.text, "true"]);
  });

  const rule = "idempotency key must be 1 to 255 printable ASCII characters";
  const quotedRule =
    'Idempotency-Key must end with a quote if it begins with one, and inside the quotes " and \\ must be escaped with a backslash';

  it.each([
    ["nothing in quotes", '""', rule],
    ["256 characters in quotes", `"${"x".repeat(256)}"`, rule],
    ["two headers", ["abc", "abd"], expect.stringContaining("once")],
    ["a quote that does not end", '"abc', quotedRule],
    ["a quote within quotes", '"a"b"', quotedRule],
    ["a backslash that escapes nothing", '"a\\b"', quotedRule],
    ["a parameter", '"abc";v=1', quotedRule],
  ])("%s is refused, and adds nothing", async (_what, idempotencyKey, message) => {
    const before = await countPets();
    expect(await create(idempotencyKey)).toMatchObject({ status: 400, json: { code: "VALIDATION_FAILED", message } });
    expect(await countPets()).toEqual(before);
  });
});

it("the pet and the key are stored together or not at all", async () => {
  await store.execute("alter table pets add constraint no_bo check (name <> 'Bo') not valid");
  const sent = '{"name":"Bo","categoryId":1}';
  expect((await create("failed here", { sent })).status).toBe(500);
  await store.execute("alter table pets drop constraint no_bo");
  const created = await create("failed here");
  expect([created.status, created.headers["idempotency-replayed"]]).toEqual([201, undefined]);
});
