// API keys over time, and in the query. tools/checks/conformance/contract tests every form of the Authorization header.
import { randomBytes } from "node:crypto";
import { digestApiKey, mintApiKey } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { type CallOptions, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const get = (options: CallOptions) => store.call("GET", "/v1/pets", options);
const unauthorized = (code: string) => ({ status: 401, json: { code, status: 401 } });

it.each(["api_key", "access_token"])("a key in the query parameter %s is no key", async (name) => {
  expect(await store.call("GET", `/v1/pets?${name}=${key}`)).toMatchObject(unauthorized("API_KEY_MISSING"));
});

it("a rejected key is not in the response", async () => {
  for (const token of [`${key}x`, key.slice(0, -1), key.toUpperCase()]) {
    expect((await get({ key: token })).text).not.toContain(token);
  }
});

it("a create without a key adds nothing", async () => {
  const body = '{"name":"Ada","categoryId":1,"status":"sold"}';
  expect((await store.call("POST", "/v1/pets", { body })).status).toBe(401);
  expect((await store.call("GET", "/v1/pets?status=sold", { key })).text).toBe("[]");
});

describe("a key is refused", () => {
  it("from its expiry on, by the clock of PostgreSQL and not of the instance", async () => {
    const caller = await store.issueKey();
    const expire = (after: string) =>
      store.execute(`update api_keys set expires_at = now() + interval '${after}' where id = ${caller.keyId}`);
    await expire("1 hour");
    expect((await get(caller)).status).toBe(200);
    await expire("-1 second");
    store.clock.nowMs += 5_001;
    expect(await get(caller)).toMatchObject(unauthorized("API_KEY_EXPIRED"));
  });

  it("at most five seconds after its revocation, without an effect on the other keys of its account", async () => {
    const caller = await store.issueKey();
    const sibling = await store.issueKey({ accountId: caller.accountId });
    expect((await get(caller)).status).toBe(200);
    await store.revokeKey(caller.keyId);
    store.clock.nowMs += 5_001;
    expect(await get(caller)).toMatchObject(unauthorized("API_KEY_REVOKED"));
    expect((await get(sibling)).status).toBe(200);
  });
});

it("a key that was unknown before is accepted at most five seconds after it was issued", async () => {
  const early = mintApiKey("live", randomBytes);
  expect((await get({ key: early })).status).toBe(401);
  await store.execute(
    `insert into api_keys (account_id, digest) select min(id), '\\x${digestApiKey(early)}' from accounts`,
  );
  store.clock.nowMs += 5_001;
  expect((await get({ key: early })).status).toBe(200);
});
