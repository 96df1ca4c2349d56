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

it("counts by route, method and status, HEAD as GET and an unknown method as other", async () => {
  const { metrics, samplesOf } = open();
  for (const method of ["GET", "HEAD", "POST", "BREW"]) metrics.responded({ route: "/v1/pets" }, method, 200, 1);
  expect(await samplesOf("petstore_http_requests_total")).toMatchObject([
    { labels: { route: "/v1/pets", method: "GET", status: 200 }, value: 2 },
    { labels: { route: "/v1/pets", method: "POST", status: 200 }, value: 1 },
    { labels: { route: "/v1/pets", method: "other", status: 200 }, value: 1 },
  ]);
});

it("counts problems by their code", async () => {
  const { metrics, samplesOf } = open();
  metrics.responded({ route: "/v1/pets", problemCode: "API_KEY_MISSING" }, "GET", 401, 1);
  metrics.responded({ route: "/v1/pets", problemCode: "API_KEY_MISSING" }, "GET", 401, 1);
  expect(await samplesOf("petstore_http_problems_total")).toMatchObject([
    { labels: { route: "/v1/pets", method: "GET", code: "API_KEY_MISSING" }, value: 2 },
  ]);
});

it("measures durations in seconds, of GET and POST only", async () => {
  const { metrics, samplesOf } = open();
  metrics.responded({ route: "/v1/pets" }, "GET", 200, 5);
  metrics.responded({ route: "/v1/pets" }, "BREW", 405, 5);
  const samples = await samplesOf("petstore_http_request_duration_seconds");
  const labels = { route: "/v1/pets", method: "GET" };
  expect(samples[0]).toMatchObject({ labels: { ...labels, le: 0.005 }, value: 1 });
  expect(samples).toContainEqual(expect.objectContaining({ metricName: expect.stringMatching(/_sum$/), value: 0.005 }));
  expect(samples).toHaveLength(11);
});
