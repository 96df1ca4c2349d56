// Traces over OTLP/HTTP, sent to a real receiver: the spans of a request, their parents, and faults of the receiver.
// services/standalone/test/standalone.test.ts tests the shutdown while a receiver does not answer.
import { openRawClient, openTraceReceiver } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { openTestStore, type TestStore } from "./test-store.js";

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly status: { readonly code?: number };
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpanId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${callerSpanId}-01`;

/** The spans, the requests to the receiver and the log lines, after the store has ended and sent everything. */
async function trace(act: (store: TestStore, key: string) => Promise<unknown>, environment = {}, status = 200) {
  await using receiver = await openTraceReceiver(status);
  const store = await openTestStore({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...environment });
  const { key } = await store.issueKey();
  await act(store, key);
  await store[Symbol.asyncDispose]();
  const bodies = receiver.requests.map(({ body }) => body);
  const resources = bodies.flatMap((body) => JSON.parse(body).resourceSpans);
  const spans: Span[] = resources.flatMap(({ scopeSpans }) => scopeSpans).flatMap((scope) => scope.spans);
  return { spans, exports: bodies.join(), requests: receiver.requests, logged: store.logged.join() };
}

function attributesOf({ attributes }: Span): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** The name of each span, below the name of its parent. */
function treeOf(spans: readonly Span[], parent: string): unknown[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .map(({ name, spanId }) => [name, ...treeOf(spans, spanId)]);
}

it("creates HTTP and PostgreSQL spans for a request, below the client's span, without its data, and none later", async () => {
  const body = '{"name":"a-mauve-name","categoryId":1}';
  const { spans, exports, requests, logged } = await trace(
    async (store, key) => {
      const headers = { traceparent, tracestate: `vendor=${key}` };
      await store.call("POST", "/v1/pets?secret=1", { key, body, headers });
      // The service writes it a second later, for itself.
      const used = "select from api_keys where last_used_on is not null";
      await expect.poll(() => store.execute(used), { timeout: 10_000 }).toHaveLength(1);
    },
    { OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20secret" },
  );
  expect(requests[0]).toMatchObject({ target: "POST /v1/traces", headers: { "api-key": "a secret" } });
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(treeOf(spans, callerSpanId)).toEqual([["POST /v1/pets", ["select-key-by-digest"], ["insert-pet"]]]);
  const attributes = Object.fromEntries(spans.map((span) => [`${span.kind} ${span.name}`, attributesOf(span)]));
  expect(attributes).toMatchObject({
    "2 POST /v1/pets": {
      "http.request.method": "POST",
      "http.route": "/v1/pets",
      "http.response.status_code": 201,
      "url.path": "/v1/pets",
      "url.scheme": "http",
      "client.address": "127.0.0.1",
    },
    "3 insert-pet": { "db.system.name": "postgresql", "db.query.summary": "insert-pet" },
  });
  expect(logged).toContain(`"traceId":"${traceId}"`);
  expect(exports).toContain('"service.name","value":{"stringValue":"petstore"}');
  expect(exports).toMatch(/"service\.version","value":\{"stringValue":"\d+\.\d+\.\d+"\}/);
  expect(exports).not.toMatch(/pets_|mauve|secret|vendor|select |insert into/);
});

it("shows no API key in the path and the User-Agent, and at most 256 characters of each", async () => {
  const { spans } = await trace(async (store, key) => {
    const encoded = key.replaceAll("_", "%5F");
    await store.call("GET", `/v1/pets/${key}`, { key, headers: { traceparent, "User-Agent": `curl ${key}` } });
    await store.call("GET", `/v1/pets/${encoded}`, { key, headers: { traceparent, "User-Agent": "curl/8" } });
    await store.call("GET", `/${"a".repeat(1_000)}`, { key, headers: { traceparent } });
  });
  const servers = spans.filter(({ kind }) => kind === 2).map(attributesOf);
  expect(servers.map((span) => [span["url.path"], span["user_agent.original"]])).toEqual([
    ["[redacted]", "[redacted]"],
    ["[redacted]", "curl/8"],
    [`/${"a".repeat(255)}`, undefined],
  ]);
});

it("marks failed requests with the error code only", async () => {
  const { spans, exports } = await trace(async (store, key) => {
    await store.execute("drop table pets cascade");
    await store.call("GET", "/v1/pets", { key, headers: { traceparent } });
  });
  const failed = spans.filter(({ status }) => status.code === 2);
  expect(Object.fromEntries(failed.map((span) => [span.name, attributesOf(span)["error.type"]]))).toEqual({
    "GET /v1/pets": "INTERNAL_ERROR",
    "select-pets": "INTERNAL_ERROR",
  });
  expect(exports).not.toMatch(/relation|does not exist/);
});

it("shows no status if the client resets the connection before the response", async () => {
  const { spans } = await trace(async (store, key) => {
    await store.call("GET", "/v1/none", { key });
    await store.execute("begin");
    await store.execute("lock table pets in access exclusive mode");
    using client = openRawClient(store.port);
    const body = '{"name":"Rex","categoryId":1}';
    client.write(
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nTraceparent: ${traceparent}\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    // The service itself reads the table once a second.
    const waiting =
      "select from pg_locks where relation = 'pets'::regclass and not granted and mode = 'RowExclusiveLock'";
    await expect.poll(() => store.execute(waiting)).toHaveLength(1);
    client.socket.resetAndDestroy();
    await expect.poll(() => store.logged.join()).toContain('"status":499');
    await store.execute("rollback");
  });
  const aborted = spans.find(({ parentSpanId }) => parentSpanId === callerSpanId);
  const names = aborted?.attributes.map(({ key }) => key);
  expect(names).toContain("http.route");
  expect(names).not.toContain("http.response.status_code");
});

const later = `${traceparent.replace(/^00/, "01")}-more`;

it.each([
  ["0", { traceparent }, 0],
  ["0", {}, 0],
  // A ratio of the trace id would sample this one at every share above 0.
  ["0.000000001", { traceparent: `00-${"0".repeat(31)}1-${callerSpanId}-01` }, 0],
  ["1", { traceparent }, 1],
  ["1", {}, 1],
  ["1", { traceparent: traceparent.replace(/01$/, "00") }, 0],
  ["1", { traceparent: `${later}, ${later}` }, 1],
])("with a sampled share of %s, a request with %j has %i traces", async (share, headers, traces) => {
  const { spans, logged } = await trace(
    async (store, key) => store.call("GET", "/v1/pets", { key, headers: headers as Record<string, string> }),
    { OTEL_TRACES_SAMPLER_ARG: share },
  );
  expect(spans.filter(({ kind }) => kind === 2)).toHaveLength(traces);
  // The trace of the client connects its log lines with those of the service, sampled or not.
  if ("traceparent" in headers && traces === 0) expect(logged).toContain(headers.traceparent.slice(3, 35));
});

it("fails no request if the receiver refuses the traces, and warns once", async () => {
  const list = async ({ call }: TestStore, key: string) => {
    for (let round = 0; round < 20; round++) expect((await call("GET", "/v1/pets", { key })).status).toBe(200);
  };
  const { logged } = await trace(list, {}, 400);
  expect(logged.match(/traces could not be sent/g)).toHaveLength(1);
});
