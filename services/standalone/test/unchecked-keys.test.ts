// How both APIs answer while PostgreSQL cannot check a key.
import { describe, expect, it } from "vitest";
import { codeOf, creates, graphql, lists, openStoreBehindProxy } from "./store-behind-proxy.js";

const ageMs = 6_000;

describe("a key that PostgreSQL cannot check", () => {
  it("is answered 503 and counted nowhere, also where its address has used up its anonymous requests", async () => {
    const environment = { ANONYMOUS_REQUESTS_PER_MINUTE: "2", ANONYMOUS_REQUESTS_PER_DAY: "2" };
    await using opened = await openStoreBehindProxy({ environment });
    const { store, proxy } = opened;
    const { key } = await store.issueKey({ plan: "free" });
    for (const [index, list] of lists.entries()) {
      expect(await list(store, {})).toMatchObject({ status: 401, rateLimit: { limit: 2, remaining: 1 - index } });
    }
    for (const list of lists) expect(codeOf(await list(store, {}))).toBe("DAILY_QUOTA_EXCEEDED");
    await proxy.refuse();
    for (const list of lists) {
      const answer = await list(store, { key });
      expect(answer).toMatchObject({ status: 503, rateLimit: { limit: 2, remaining: 0 } });
      expect(answer.headers["retry-after"]).toBe("1");
      expect(codeOf(answer)).toBe("SERVICE_UNAVAILABLE");
    }
    await proxy.restore();
    await expect.poll(async () => (await store.call("GET", "/v1/none", { key })).status).toBe(404);
    expect((await lists[0]?.(store, { key }))?.rateLimit).toMatchObject({ limit: 60, remaining: 58 });
  });

  it("is good for everything that needs no PostgreSQL for an hour after it was checked, and for nothing else", async () => {
    await using opened = await openStoreBehindProxy();
    const { store, proxy } = opened;
    const { key } = await store.issueKey({ plan: "free" });
    await store.call("GET", "/v1/none", { key });
    await proxy.refuse();
    store.clock.nowMs += ageMs;
    const status = async (method: string, path: string, body?: string) =>
      (await store.call(method, path, { key, ...(body !== undefined && { body }) })).status;
    expect(await status("GET", "/v1/none")).toBe(404);
    expect(await status("GET", "/v1/pets/none")).toBe(404);
    expect(await status("DELETE", "/v1/pets")).toBe(405);
    expect(await status("GET", "/v1/pets?limit=0")).toBe(400);
    expect(await status("POST", "/v1/pets", "{}")).toBe(400);
    expect(await status("POST", "/graphql", "{")).toBe(400);
    for (const call of [...lists, ...creates]) {
      const answer = await call(store, { key });
      expect(answer, "and costs nothing").toMatchObject({ status: 503, rateLimit: { limit: 60, remaining: 53 } });
      expect(answer.headers["retry-after"]).toBe("1");
    }
    const invalid = await store.call("POST", "/graphql", { key, body: graphql("{ pets(limit: 0) { id } }") });
    expect(codeOf(invalid)).toBe("VALIDATION_FAILED");
    expect(await store.call("GET", "/v1/pets/1", { key })).toMatchObject({ status: 503 });
    store.clock.nowMs += 3_600_000;
    expect(await store.call("GET", "/v1/none", { key })).toMatchObject({ status: 503, rateLimit: { limit: 300 } });
  });

  it("writes nothing while its record is stale, although PostgreSQL has recovered", async () => {
    await using opened = await openStoreBehindProxy();
    const { store, proxy } = opened;
    const { key, keyId } = await store.issueKey();
    await store.call("GET", "/v1/none", { key });
    await proxy.refuse();
    store.clock.nowMs += ageMs;
    await store.call("GET", "/v1/none", { key });
    await proxy.restore();
    await store.execute(`update api_keys set revoked_at = now() where id = ${keyId}`);
    const statuses = await Promise.all(creates.map(async (create) => (await create(store, { key })).status));
    for (const status of statuses) expect([401, 503]).toContain(status);
    expect(await store.execute("select from pets")).toEqual([]);
  });
});

describe("a revoked key, where PostgreSQL is slow and nobody is notified,", () => {
  it("creates nothing 40 seconds later, over either API", async () => {
    for (const [index, create] of creates.entries()) {
      await using opened = await openStoreBehindProxy({ isPooled: true });
      const { store, proxy } = opened;
      const { key, keyId } = await store.issueKey();
      expect((await lists[index]?.(store, { key }))?.status).toBe(200);
      await proxy.delay(60);
      await store.execute(`update api_keys set revoked_at = now() where id = ${keyId}`);
      store.clock.nowMs += 40_000;
      const answer = await create(store, { key });
      expect(answer.status).toBe(401);
      expect(codeOf(answer)).toBe("API_KEY_REVOKED");
    }
  });
});
