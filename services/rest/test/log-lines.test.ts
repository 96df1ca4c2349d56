// The content of the log line of a request. every-request.test.ts tests that no request can change its form.
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

it("a log line contains message, trace of the client, request id, address, method, route template, status, duration, account, key and problem", async () => {
  const { key, keyId, accountId } = await store.issueKey();
  const answer = await store.call("GET", "/v1/pets/77777?x=1", { key, headers: { traceparent } });
  expect(await store.lineOf(answer)).toEqual({
    level: "info",
    time: expect.any(Number),
    msg: "request completed",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    requestId: answer.headers["x-request-id"],
    clientAddress: "127.0.0.1",
    method: "GET",
    route: "/v1/pets/{petId}",
    status: 404,
    durationMs: 0,
    account: `${accountId}`,
    key: `${keyId}`,
    code: "PET_NOT_FOUND",
  });
});

it("a log line contains the account and the key of a revoked key", async () => {
  // The key is not in the cache yet, so the revocation acts at once.
  const { key, keyId, accountId } = await store.issueKey();
  await store.revokeKey(keyId);
  const refused = await store.lineOf(await store.call("GET", "/v1/pets", { key }));
  expect(refused).toMatchObject({ account: `${accountId}`, key: `${keyId}`, code: "API_KEY_REVOKED" });
});

it.each([
  ["a later version with more fields", `${traceparent.replace(/^00/, "cc")}-more-01`, true],
  ["two values", `${traceparent.replace(/^00/, "cc")}-more, ${traceparent}`, false],
  ["version 00 with more fields", `${traceparent}-more`, false],
  ["version ff", traceparent.replace(/^00/, "ff"), false],
])("a log line contains the trace of the client if traceparent has %s: %s %s", async (_what, sent, isRead) => {
  const answer = await store.call("GET", "/v1/pets", { headers: { traceparent: sent } });
  expect((await store.lineOf(answer)).traceId).toBe(isRead ? "4bf92f3577b34da6a3ce929d0e0e4736" : undefined);
});
