// A refused caller is answered from its headers alone: no byte of the body is waited for, read or parsed.
import { createGraphqlRouter } from "@petstore/graphql";
import { openRawClient } from "@petstore/harness/network";
import { createRestRouter } from "@petstore/rest";
import { openTestStore } from "@petstore/test-store";
import { afterAll, describe, expect, it } from "vitest";

const store = await openTestStore({
  routers: [createRestRouter, createGraphqlRouter],
  environment: { ANONYMOUS_REQUESTS_PER_MINUTE: "4", BAN_STRIKES: "1", BAN_GRACE_MS: "0" },
});
afterAll(() => store[Symbol.asyncDispose]());

/** Sends the head of a POST request without its body, and returns the status of the answer. */
async function postWithoutBody(path: string, key?: string): Promise<number | undefined> {
  using client = openRawClient(store.port);
  const authorization = key === undefined ? "" : `Authorization: Bearer ${key}\r\n`;
  client.write(
    `POST ${path} HTTP/1.1\r\nHost: petstore\r\n${authorization}Content-Type: application/json\r\nContent-Length: 833\r\n\r\n`,
  );
  return (await client.received(1))[0]?.status;
}

describe.each(["/v1/pets", "/graphql"])("POST %s is answered before its body arrives", (path) => {
  it("429 for an account that has used up its minute", async () => {
    const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 100 } });
    await store.call("GET", "/v1/pets", { key });
    expect(await postWithoutBody(path, key)).toBe(429);
  });

  it("429 for a banned key", async () => {
    const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 1_000_000 } });
    let code: unknown;
    for (let call = 0; call < 1_000 && code !== "API_KEY_BANNED"; call++) {
      code = ((await store.call("GET", "/v1/pets", { key })).json as { code?: unknown }).code;
      store.clock.nowMs += 10;
    }
    expect(code).toBe("API_KEY_BANNED");
    expect(await postWithoutBody(path, key)).toBe(429);
  });

  it("401 without a key, and 429 when the address has used up its requests", async () => {
    store.clock.nowMs += 60_000;
    for (let call = 0; call < 4; call++) expect(await postWithoutBody(path)).toBe(401);
    expect(await postWithoutBody(path)).toBe(429);
  });
});
