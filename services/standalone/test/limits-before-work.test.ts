// A refused caller is answered from its headers alone: no byte of the body is waited for, read or parsed.
import { once } from "node:events";
import { connect } from "node:net";
import { createGraphqlRouter } from "@petstore/graphql";
import { createRestRouter } from "@petstore/rest";
import { openTestStore } from "@petstore/test-store";
import { afterAll, describe, expect, it } from "vitest";

const store = await openTestStore({
  routers: [createRestRouter, createGraphqlRouter],
  environment: { ANONYMOUS_REQUESTS_PER_MINUTE: "4", BAN_STRIKES: "1", BAN_GRACE_MS: "0" },
});
afterAll(() => store[Symbol.asyncDispose]());

/** The first line of the answer to a POST whose body is announced and never sent. */
async function postWithoutBody(path: string, key?: string): Promise<string> {
  const socket = connect(store.port, "127.0.0.1");
  const authorization = key === undefined ? "" : `Authorization: Bearer ${key}\r\n`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: petstore\r\n${authorization}Content-Type: application/json\r\nContent-Length: 833\r\n\r\n`,
  );
  const [firstBytes] = await once(socket, "data");
  socket.destroy();
  return String(firstBytes).split("\r\n")[0] ?? "";
}

describe.each(["/v1/pets", "/graphql"])("POST %s is answered before its body arrives", (path) => {
  it("429 for an account that has used up its minute", async () => {
    const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 100 } });
    await store.call("GET", "/v1/pets", { key });
    expect(await postWithoutBody(path, key)).toBe("HTTP/1.1 429 Too Many Requests");
  });

  it("429 for a banned key", async () => {
    const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 1_000_000 } });
    let code: unknown;
    for (let call = 0; call < 1_000 && code !== "API_KEY_BANNED"; call++) {
      code = ((await store.call("GET", "/v1/pets", { key })).json as { code?: unknown }).code;
      store.clock.nowMs += 10;
    }
    expect(code).toBe("API_KEY_BANNED");
    expect(await postWithoutBody(path, key)).toBe("HTTP/1.1 429 Too Many Requests");
  });

  it("401 without a key, and 429 when the address has used up its requests", async () => {
    store.clock.nowMs += 60_000;
    for (let call = 0; call < 4; call++) expect(await postWithoutBody(path)).toBe("HTTP/1.1 401 Unauthorized");
    expect(await postWithoutBody(path)).toBe("HTTP/1.1 429 Too Many Requests");
  });
});
