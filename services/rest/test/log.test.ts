// The log of requests: JSON for machines, and readable lines for a person at a terminal. hostile-texts.test.ts tests that
// no request can change the form of its line.
import { fileURLToPath } from "node:url";
import { describeWithProgram } from "@petstore/harness";
import { serviceFlags, startProgram, startService } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { main, openSharedStore } from "./test-store.js";

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

/** No request here needs the database. */
const environment = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nowhere" };
const readable = /^\d\d:\d\d:\d\d INFO {2}GET \/v1\/pets 401 API_KEY_MISSING in [\d.]+ ms clientAddress=127\.0\.0\.1 /m;

it("each JSON line names the service, its version, the host and the process", async () => {
  await using rest = await startService({ main, environment });
  await fetch(`${rest.origin}/v1/pets`);
  const [line] = await rest.printed(/^.*"route":"\/v1\/pets".*$/m);
  expect(JSON.parse(line)).toMatchObject({
    service: "petstore-rest",
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    host: expect.any(String),
    pid: rest.pid,
    msg: "request completed",
  });
});

it("LOG_PRETTY prints one readable line per request", async () => {
  await using rest = await startService({ main, environment: { ...environment, LOG_PRETTY: "true" } });
  await fetch(`${rest.origin}/v1/pets`);
  await rest.printed(readable);
  expect(rest.output.join()).not.toContain('"level"');
});

describeWithProgram("script", "a service at a terminal", () => {
  it("prints readable lines", async () => {
    // util-linux's `script` opens the terminal.
    const command = [process.execPath, ...serviceFlags, fileURLToPath(main)].join(" ");
    await using program = startProgram({
      name: "script",
      command: "script",
      args: ["-qec", `exec ${command}`, "/dev/null"],
      environment: { PATH: process.env.PATH, PORT: "0", ...environment },
    });
    const [, origin = ""] = await program.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
    await fetch(`${origin}/v1/pets`);
    await program.printed(readable);
  });
});
