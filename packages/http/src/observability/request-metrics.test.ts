import { Registry } from "prom-client";
import { expect, it } from "vitest";
import { createRequestMetrics } from "./request-metrics.js";

it("counts by route, method, status and problem, HEAD as GET, and measures GET and POST in seconds", async () => {
  const registry = new Registry();
  const metrics = createRequestMetrics(registry);
  /** The samples of a metric, without those that are 0. */
  const samplesOf = async (name: string) =>
    ((await registry.getSingleMetric(name)?.get())?.values ?? []).filter(({ value }) => value > 0);

  const route = "/v1/pets";
  for (const method of ["GET", "HEAD", "POST", "BREW"]) metrics.responded({ route }, method, 200, 5);
  metrics.responded({ route, problemCode: "API_KEY_MISSING" }, "GET", 401, 5);
  expect(await samplesOf("petstore_http_requests_total")).toMatchObject([
    { labels: { route, method: "GET", status: 200 }, value: 2 },
    { labels: { route, method: "POST", status: 200 }, value: 1 },
    { labels: { route, method: "other", status: 200 }, value: 1 },
    { labels: { route, method: "GET", status: 401 }, value: 1 },
  ]);
  expect(await samplesOf("petstore_http_problems_total")).toMatchObject([
    { labels: { route, method: "GET", code: "API_KEY_MISSING" }, value: 1 },
  ]);
  const durations = await samplesOf("petstore_http_request_duration_seconds");
  expect(durations[0]).toMatchObject({ labels: { route, method: "GET", le: 0.005 }, value: 3 });
  expect(new Set(durations.map(({ labels }) => labels.method))).toEqual(new Set(["GET", "POST"]));
});
