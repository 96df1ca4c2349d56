// Traces over OTLP/HTTP, sent to a real receiver: the spans of a request, their parents, and faults of the receiver.
import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
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

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly exports: readonly Export[];
  spans(): readonly Span[];
}

type Answer = "accept" | "fail" | "hang";

async function openReceiver(answer: Answer = "accept"): Promise<Receiver> {
  const exports: Export[] = [];
  const server: Server = createServer(async (req, res) => {
    expect([req.method, req.url]).toEqual(["POST", "/v1/traces"]);
    exports.push((await json(req)) as Export);
    if (answer !== "hang")
      res.writeHead(answer === "accept" ? 200 : 400, { "Content-Type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exports,
    spans: () =>
      exports.flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function openTraced(endpoint: string, environment: Readonly<Record<string, string>> = {}): Promise<TestStore> {
  return openTestStore({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...environment } });
}

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpanId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${callerSpanId}-01`;
const body = '{"name":"a-mauve-name","categoryId":1}';

/** The spans and the log lines of one request, after the store has ended and sent everything. */
async function trace(act: (store: TestStore, key: string) => Promise<unknown>, environment = {}) {
  await using receiver = await openReceiver();
  const store = await openTraced(receiver.url, environment);
  const { key } = await store.issueKey();
  await act(store, key);
  await store[Symbol.asyncDispose]();
  const lines = store.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
  const request = lines.find(({ requestId, level }) => requestId !== undefined && level === "info");
  return { spans: receiver.spans(), exports: receiver.exports, request };
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

describe("tracing", () => {
  it("creates HTTP, quota and Postgres spans for a request, below the client's span", async () => {
    const { spans, exports, request } = await trace((store, key) =>
      store.call("POST", "/v1/pets?secret=1", { key, body, headers: { traceparent } }).then(
        // A client with a connection pool may send the next request before the last one ends.
        () => expect.poll(() => store.logged.length).toBeGreaterThan(0),
      ),
    );
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(treeOf(spans, callerSpanId)).toEqual([
      ["POST /v1/pets", ["authenticate", ["select-key-by-digest"]], ["quota.reserve"], ["insert-pets"]],
    ]);
    const [server] = spans.filter(({ name }) => name === "POST /v1/pets") as [Span];
    const [query] = spans.filter(({ name }) => name === "insert-pets") as [Span];
    expect([server.kind, query.kind]).toEqual([2, 3]);
    expect(attributesOf(server)).toEqual({
      "http.request.method": "POST",
      "http.route": "/v1/pets",
      "http.response.status_code": 201,
    });
    expect(attributesOf(query)).toEqual({ "db.system.name": "postgresql", "db.query.summary": "insert-pets" });
    expect(request).toMatchObject({ traceId, route: "/v1/pets" });
    expect(JSON.stringify(exports)).toContain('"service.name","value":{"stringValue":"petstore"}');
    expect(JSON.stringify(exports)).not.toMatch(/pets_|mauve|secret|select |insert into/);
  });

  it("marks failed requests with the error code only", async () => {
    const { spans } = await trace(async (store, key) => {
      await store.execute("drop table pets cascade");
      await store.call("GET", "/v1/pets", { key, headers: { traceparent } });
    });
    const failed = spans
      .filter(({ status }) => status.code === 2)
      .map((span) => [span.name, attributesOf(span)["error.type"]]);
    expect(failed.sort()).toEqual([
      ["GET /v1/pets", "INTERNAL_ERROR"],
      ["select-pets", "INTERNAL_ERROR"],
    ]);
    expect(JSON.stringify(spans)).not.toMatch(/relation|does not exist/);
  });

  it.each([
    ["nothing", undefined],
    ["a malformed version", `zz-${traceId}-${callerSpanId}-01`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${callerSpanId}-01`],
    ["a span that is too short", `00-${traceId}-00f067aa-01`],
    ["upper case", traceparent.toUpperCase()],
    ["more than there is in version 00", `${traceparent}-more`],
    ["noise", "\u00ff".repeat(200)],
  ])("starts a new trace for %s in traceparent", async (_kind, sent) => {
    const { spans, request } = await trace((store, key) =>
      store.call("GET", "/v1/pets", { key, headers: { ...(sent && { traceparent: sent }) } }),
    );
    const [server] = spans.filter(({ kind }) => kind === 2) as [Span];
    expect(server.parentSpanId).toBeUndefined();
    expect(server.traceId).toMatch(/^[\da-f]{32}$/);
    expect(server.traceId).not.toBe(traceId);
    expect(request).toMatchObject({ traceId: server.traceId });
  });

  it("starts a new trace for two traceparents", async () => {
    const { spans } = await trace((store, key) =>
      store.call("GET", "/v1/pets", { key, headers: { traceparent: [traceparent, traceparent] } }),
    );
    expect(spans.some((span) => span.traceId === traceId)).toBe(false);
    expect(spans.length).toBeGreaterThan(3);
  });

  it("keeps the traces of concurrent requests apart", async () => {
    const ids = Array.from({ length: 50 }, (_, index) => index.toString(16).padStart(32, "a"));
    const { spans } = await trace((store, key) =>
      Promise.all(
        // Different lists: if several requests share a query, only the first one has its span.
        ids.map((id, index) =>
          store.call("GET", `/v1/pets?limit=${index + 1}`, {
            key,
            headers: { traceparent: `00-${id}-${callerSpanId}-01` },
          }),
        ),
      ),
    );
    for (const id of ids) {
      const own = spans.filter((span) => span.traceId === id);
      const [[root, ...rest]] = treeOf(own, callerSpanId) as [[string, ...unknown[]]];
      expect(root).toBe("GET /v1/pets");
      expect(rest).toContainEqual(["quota.reserve"]);
      expect(rest).toContainEqual(["select-pets"]);
    }
  });

  it("follows the sampling of its client, and samples its own traces as configured", async () => {
    const { spans } = await trace(
      async (store, key) => {
        await store.call("GET", "/v1/pets", { key });
        await store.call("GET", "/v1/pets", { key, headers: { traceparent: traceparent.replace(/01$/, "00") } });
        await store.call("GET", "/v1/pets", { key, headers: { traceparent } });
      },
      { OTEL_TRACES_SAMPLER_ARG: "0" },
    );
    expect(spans.filter(({ kind }) => kind === 2).map((span) => span.parentSpanId)).toEqual([callerSpanId]);
  });
});

describe("a receiver of traces", () => {
  it.each<[string, Answer | "absent"]>([
    ["is not there", "absent"],
    ["refuses them", "fail"],
    ["does not answer", "hang"],
  ])("that %s delays no request, and the shutdown by at most a second", async (_what, answer) => {
    await using receiver = await openReceiver(answer === "absent" ? "accept" : answer);
    const url = answer === "absent" ? "http://127.0.0.1:1" : receiver.url;
    const store = await openTraced(url);
    const { key } = await store.issueKey();
    for (let round = 0; round < 20; round++) {
      expect((await store.call("GET", "/v1/pets", { key })).status).toBe(200);
    }
    const startedAtMs = performance.now();
    await store[Symbol.asyncDispose]();
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
    if (answer === "fail") {
      expect(store.logged.filter((line) => line.includes("traces could not be sent"))).toHaveLength(1);
    }
  });
});

it("without a receiver requests have no trace, and their log lines no trace id", async () => {
  await using store = await openTestStore();
  const { key } = await store.issueKey();
  await store.call("GET", "/v1/pets", { key, headers: { traceparent } });
  await expect.poll(() => store.logged.length).toBeGreaterThan(0);
  expect(store.logged.join()).not.toContain("traceId");
});

it("without a receiver the OpenTelemetry SDK is not loaded", async () => {
  const script = `
    const { openService } = await import("@petstore/http");
    const { createRequire } = await import("node:module");
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(typeof openService, loaded.length > 100, loaded.filter((path) => /opentelemetry.(sdk|otlp|exporter)/.test(path)).length);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
  });
  expect(stdout.trim()).toBe("function true 0");
});
