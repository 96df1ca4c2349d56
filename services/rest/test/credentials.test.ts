import { randomBytes } from "node:crypto";
import { digestApiKey, mintApiKey } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { type CallOptions, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const missing = 'Bearer realm="petstore"';
const invalid = 'Bearer realm="petstore", error="invalid_token"';
const get = (options: CallOptions) => store.call("GET", "/v1/pets", options);
const authorization = (value: string | string[]) => get({ headers: { Authorization: value } });

function unauthorized(code: string, challenge: string): object {
  return { status: 401, json: { code, status: 401 }, headers: { "www-authenticate": challenge } };
}

describe("a request without a key gets a challenge", () => {
  it("without an Authorization header", async () => {
    expect(await get({})).toMatchObject(unauthorized("API_KEY_MISSING", missing));
  });

  it.each([
    ["an empty header", ""],
    ["the scheme alone", "Bearer"],
    ["the scheme and a blank", "Bearer "],
    ["Basic", `Basic ${Buffer.from(`${key}:`).toString("base64")}`],
    ["another scheme with our key", `Token ${key}`],
    ["the key without a scheme", key],
    ["a scheme that begins with ours", `Bearers ${key}`],
    ["a tab for a space", `Bearer\t${key}`],
  ])("with %s", async (_what, value) => {
    expect(await authorization(value)).toMatchObject(unauthorized("API_KEY_MISSING", missing));
  });

  it.each([
    ["in the query", `/v1/pets?api_key=${key}`, {}],
    ["as access_token in the query", `/v1/pets?access_token=${key}`, {}],
    ["in X-API-Key", "/v1/pets", { "X-API-Key": key }],
    ["in a cookie", "/v1/pets", { Cookie: `api_key=${key}` }],
    ["for the proxy", "/v1/pets", { "Proxy-Authorization": `Bearer ${key}` }],
  ])("with a key %s", async (_where, path, headers) => {
    expect(await store.call("GET", path, { headers })).toMatchObject(unauthorized("API_KEY_MISSING", missing));
  });
});

describe("a request with an invalid key gets error=invalid_token", () => {
  const changed = key.endsWith("0") ? "1" : "0";
  it.each([
    ["a word", "letmein"],
    ["another mode", key.replace("live", "prod")],
    ["a wrong checksum", key.slice(0, -1) + changed],
    ["a mistyped secret", `pets_live_${key[10] === "a" ? "b" : "a"}${key.slice(11)}`],
    ["the key cut short", key.slice(0, -1)],
    ["the key and more", `${key}x`],
    ["the key twice", `${key} ${key}`],
    ["the key in quotes", `"${key}"`],
    ["the key in upper case", key.toUpperCase()],
    ["a key nobody was given", mintApiKey("live", randomBytes)],
    ["12,000 characters", "x".repeat(12_000)],
    ["an apostrophe", "' or '1'='1"],
  ])("%s", async (_what, token) => {
    const answer = await get({ key: token });
    expect(answer).toMatchObject(unauthorized("API_KEY_INVALID", invalid));
    expect(answer.text).not.toContain(token);
  });

  it.each([
    ["the same key", () => [`Bearer ${key}`, `Bearer ${key}`]],
    ["a wrong one second", () => [`Bearer ${key}`, "Bearer x"]],
    ["a wrong one first", () => ["Bearer x", `Bearer ${key}`]],
    ["another scheme", () => [`Bearer ${key}`, "Basic eDp5"]],
  ])("two Authorization headers: %s", async (_what, values) => {
    expect(await authorization(values())).toMatchObject(unauthorized("API_KEY_INVALID", invalid));
  });
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
    expect(await get(caller)).toMatchObject(unauthorized("API_KEY_EXPIRED", invalid));
  });

  it("at most five seconds after its revocation", async () => {
    const caller = await store.issueKey();
    expect((await get(caller)).status).toBe(200);
    await store.revokeKey(caller.keyId);
    store.clock.nowMs += 5_001;
    expect(await get(caller)).toMatchObject(unauthorized("API_KEY_REVOKED", invalid));
  });

  it("without an effect on the other keys of its account", async () => {
    const caller = await store.issueKey();
    const sibling = await store.issueKey({ accountId: caller.accountId });
    await store.revokeKey(caller.keyId);
    expect((await get(caller)).status).toBe(401);
    expect((await get(sibling)).status).toBe(200);
  });
});

describe("a request is accepted with", () => {
  it.each(["Bearer", "bearer", "BEARER", "bEaReR"])("the scheme written %s", async (scheme) => {
    expect((await authorization(`${scheme} ${key}`)).status).toBe(200);
  });

  it("more than one space after the scheme, as RFC 9110 section 11.4 allows", async () => {
    expect((await authorization(`Bearer   ${key}`)).status).toBe(200);
  });

  it("a key that was unknown before, at most five seconds after it was issued", async () => {
    const early = mintApiKey("live", randomBytes);
    expect((await get({ key: early })).status).toBe(401);
    await store.execute(
      `insert into api_keys (account_id, digest) select min(id), '\\x${digestApiKey(early)}' from accounts`,
    );
    store.clock.nowMs += 5_001;
    expect((await get({ key: early })).status).toBe(200);
  });
});

describe("an API key", () => {
  it("contains its mode, 190 secret bits (32 base62 characters) and a checksum", () => {
    expect(mintApiKey("live", randomBytes)).toMatch(/^pets_live_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(mintApiKey("test", randomBytes)).toMatch(/^pets_test_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
  });

  it("is stored only as its SHA-256", async () => {
    const { key: own, keyId } = await store.issueKey();
    const [row] = await store.execute(`select to_json(api_keys)::text as stored from api_keys where id = ${keyId}`);
    const { stored } = row as { stored: string };
    expect(stored).toContain(digestApiKey(own));
    expect(stored).not.toContain(own.slice(10, 42));
  });
});
