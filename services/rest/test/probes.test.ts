import { openRawClient } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore({ TRUST_PROXY: "127.0.0.1", METRICS_PORT: "0" });

it("a probe is answered to GET and HEAD without a key, with the headers of every response, and is not logged", async () => {
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff", "x-request-id": "probe-1" };
  const rateLimit = { limit: 300, remaining: 300 };
  const options = { headers: { "X-Request-Id": "probe-1" } };
  const live = await store.call("GET", "/livez", options);
  expect(live).toMatchObject({ status: 200, json: { status: "live" }, headers, rateLimit });
  expect(await store.call("HEAD", "/livez", options)).toMatchObject({ status: 200, text: "", headers, rateLimit });
  expect(await store.call("GET", "/readyz", options)).toMatchObject({ status: 200, headers, rateLimit });
  const other = await store.call("GET", "/v1/pets");
  await store.lineOf(other);
  expect(store.logged.join()).not.toContain("probe-1");
});

it.for([
  { what: "probes", method: "GET", path: "/livez", last: "/readyz", status: 200, address: "192.0.2.1" },
  {
    what: "preflight requests",
    method: "OPTIONS",
    path: "/v1/pets",
    last: "/graphql",
    status: 204,
    address: "192.0.2.2",
  },
])("an address that sends more than 12,000 $what in a minute is refused, and no other", async (flood) => {
  const { what, method, path, last, status, address } = flood;
  const other = "192.0.2.3";
  const send = (from: string) => store.call(method, last, { headers: { "X-Forwarded-For": from } });
  // Pipelined, to take less time. A connection may have 64 outstanding requests.
  using client = openRawClient(store.port);
  const batch = `${method} ${path} HTTP/1.1\r\nHost: pets.example\r\nX-Forwarded-For: ${address}\r\n\r\n`.repeat(60);
  for (let sent = 0; sent < 12_000; sent += 60) {
    client.write(batch);
    const answers = await client.received(60);
    expect(answers.filter((answer) => answer.status !== status)).toEqual([]);
    client.answers().splice(0);
  }
  expect(await send(address)).toMatchObject({
    status: 429,
    json: { code: "RATE_LIMIT_EXCEEDED", message: expect.stringContaining(`12000 ${what} a minute`), status: 429 },
    headers: { "retry-after": "61", "content-type": "application/json; charset=utf-8" },
    rateLimit: { limit: 12_000, remaining: 0, reset: store.clock.nowMs / 1_000 + 60 },
  });
  expect((await send(other)).status).toBe(status);
  expect((await store.call("GET", "/v1/pets", { headers: { "X-Forwarded-For": address } })).status).toBe(401);
  expect(await store.readiness()).toEqual({ status: "ready" });
  // The next row begins at the start of a minute too.
  store.clock.nowMs += 120_000;
  expect((await send(address)).status).toBe(status);
});

it("an instance that is older than the schema stays ready, and names the migrations of the newer release to operators", async () => {
  await store.execute("insert into kysely_migration values ('9999-next', '')");
  const report = { status: "ready", unknownMigrations: ["9999-next"] };
  await expect.poll(() => store.readiness(), { timeout: 60_000 }).toEqual(report);
  expect(await store.call("GET", "/readyz")).toMatchObject({ status: 200, text: '{"status":"ready"}' });
  const lines = store.logged.map((line) => JSON.parse(line));
  expect(lines.filter(({ migrations }) => migrations !== undefined)).toMatchObject([
    { level: "info", msg: "a newer release has migrated the database", migrations: ["9999-next"] },
  ]);
});
