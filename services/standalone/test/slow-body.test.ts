// A body may take up to 30 s to arrive. A key that is revoked during that time creates nothing.
import { createGraphqlRouter } from "@petstore/graphql";
import { openRawClient } from "@petstore/harness/network";
import { createRestRouter } from "@petstore/rest";
import { openTestStore } from "@petstore/test-store";
import { afterAll, expect, it } from "vitest";

const store = await openTestStore({ routers: [createRestRouter, createGraphqlRouter] });
afterAll(() => store[Symbol.asyncDispose]());

const pet = '{"name":"Ada","categoryId":1}';
const mutation = JSON.stringify({ query: 'mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }' });

it.each([
  ["/v1/pets", pet],
  ["/graphql", mutation],
])(
  "POST %s with a body that ends after its key was revoked is answered 401, and creates nothing",
  async (path, body) => {
    const { key, keyId } = await store.issueKey();
    const remaining = async () => (await store.call("GET", "/v1/none", { key })).rateLimit.remaining;
    const before = await remaining();
    using client = openRawClient(store.port);
    client.write(
      `POST ${path} HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 1)}`,
    );
    // The unit shows that the request was admitted; each look costs one more.
    let looks = 0;
    await expect.poll(async () => before - (await remaining()) - ++looks).toBe(1);
    await store.revokeKey(keyId);
    await expect.poll(async () => (await store.call("GET", "/v1/none", { key })).status).toBe(401);
    client.write(body.slice(1));
    expect((await client.received(1))[0]).toMatchObject({ status: 401, code: "API_KEY_REVOKED" });
    expect(await store.execute("select from pets")).toEqual([]);
  },
);
