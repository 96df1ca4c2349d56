// A part of a text holds the whole text in V8. So what is kept after a request must not hold its headers.
import { keptBytes } from "@petstore/harness";
import { openRawClient, openTraceReceiver, type RawClient } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const long = "x".repeat(15_000);
const atMostBytes = 12_000;
const requests = 300;

it.each(["/v1/pets", "/livez"])("the address of a client does not hold the header that names it: %s", async (path) => {
  await using store = await openTestStore({ TRUST_PROXY: "127.0.0.1" });
  const send = async (request: number) => {
    // All of them have 15 characters: V8 copies a part of up to 12.
    const address = `203.110.${150 + ((request + 100) >> 7)}.${100 + ((request + 100) & 127)}`;
    await store.call("GET", path, { headers: { "x-forwarded-for": `${long}, ${address}` } });
  };
  expect(await keptBytes(requests, send)).toBeLessThan(atMostBytes);
});

it.each([
  ["neither its last request nor the response", "", ""],
  ["neither of them if its body ends after the response", "Content-Length: 1\r\n", "x"],
])("an idle connection holds %s", async (_what, length, body) => {
  await using store = await openTestStore();
  const clients: RawClient[] = [];
  const connect = async () => {
    const client = openRawClient(store.port);
    clients.push(client);
    client.write(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${long}\r\n${length}\r\n`);
    await client.until(1, 20_000);
    await client.send(body);
    client.answers().splice(0);
  };
  const kept = await keptBytes(requests, connect);
  for (const client of clients) client[Symbol.dispose]();
  expect(kept).toBeLessThan(atMostBytes);
});

it.each(["user-agent", "traceparent"])(
  "a span that waits for its receiver does not hold the header %s",
  async (name) => {
    await using receiver = await openTraceReceiver(0);
    await using store = await openTestStore({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    const start = name === "traceparent" ? "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-" : "";
    const send = async (request: number) => {
      await store.call("GET", "/v1/pets", { headers: { [name]: `${start}${long}${request}` } });
    };
    expect(await keptBytes(requests, send)).toBeLessThan(atMostBytes);
  },
);
