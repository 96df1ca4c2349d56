import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createRequestMetrics } from "./request-metrics.js";

function open() {
  const registry = new Registry();
  /** The samples of a metric, without those that are 0. */
  async function samplesOf(name: string): Promise<Record<string, unknown>[]> {
    const metric = await registry.getSingleMetric(name)?.get();
    return (metric?.values ?? []).filter(({ value }) => value > 0).map((sample) => ({ ...sample }));
  }
  return { metrics: createRequestMetrics(registry), samplesOf };
}

const list = { route: "/v1/pets", scheme: "http" } as const;
const durations = "http_server_request_duration_seconds";

it("counts by route, method, status and scheme, HEAD as GET and an unknown method as _OTHER", async () => {
  const { metrics, samplesOf } = open();
  for (const method of ["GET", "HEAD", "POST", "BREW"]) metrics.ended(list, method, 200, 1);
  const counts = (await samplesOf(durations)).filter(({ metricName }) => metricName === `${durations}_count`);
  const labels = { http_route: "/v1/pets", http_response_status_code: 200, url_scheme: "http" };
  expect(counts).toMatchObject([
    { labels: { ...labels, http_request_method: "GET" }, value: 2 },
    { labels: { ...labels, http_request_method: "POST" }, value: 1 },
    { labels: { ...labels, http_request_method: "_OTHER" }, value: 1 },
  ]);
});

it("counts the requests in flight", async () => {
  const { metrics, samplesOf } = open();
  for (const method of ["GET", "HEAD", "POST"]) metrics.started(method, "https");
  metrics.ended({ ...list, scheme: "https" }, "GET", 200, 1);
  metrics.ended({ ...list, scheme: "https" }, "POST", 201, 1);
  expect(await samplesOf("http_server_active_requests")).toEqual([
    { labels: { http_request_method: "GET", url_scheme: "https" }, value: 1 },
  ]);
});

it("counts problems by their code", async () => {
  const { metrics, samplesOf } = open();
  metrics.ended({ ...list, problemCode: "API_KEY_MISSING" }, "GET", 401, 1);
  metrics.ended({ ...list, problemCode: "API_KEY_MISSING" }, "POST", 401, 1);
  metrics.ended({ ...list, problemCode: "INTERNAL_ERROR" }, "GET", 500, 1);
  expect(await samplesOf("petstore_http_problems_total")).toEqual([
    { labels: { code: "API_KEY_MISSING" }, value: 2 },
    { labels: { code: "INTERNAL_ERROR" }, value: 1 },
  ]);
  const errors = (await samplesOf(durations)).map(({ labels }) => (labels as Record<string, unknown>).error_type);
  expect(new Set(errors)).toEqual(new Set([undefined, "INTERNAL_ERROR"]));
});

it("measures durations in seconds, with 14 buckets", async () => {
  const { metrics, samplesOf } = open();
  metrics.ended(list, "GET", 200, 5);
  const samples = await samplesOf(durations);
  expect(samples[0]).toMatchObject({ labels: { le: 0.005 }, value: 1 });
  expect(samples).toContainEqual(expect.objectContaining({ metricName: expect.stringMatching(/_sum$/), value: 0.005 }));
  expect(samples).toHaveLength(14 + 3);
});
