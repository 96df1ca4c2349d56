import { expect, it } from "vitest";
import type { Sample } from "./metric-family.js";
import { createRequestMeter, type RequestMeter } from "./request-meter.js";

function samplesOf(meter: RequestMeter, name: string): readonly Sample[] {
  return meter.families.find((family) => family.name === name)?.samples() ?? [];
}

const requests = "petstore_http_requests_total";
const problems = "petstore_http_problems_total";
const durations = "petstore_http_request_duration_seconds";

it("counts by route, method and status, HEAD as GET and methods nobody has as other", () => {
  const meter = createRequestMeter();
  for (const method of ["GET", "HEAD", "POST", "BREW"]) meter.count({ route: "/v1/pets" }, method, 200, 1);
  expect(samplesOf(meter, requests)).toEqual([
    { labels: { route: "/v1/pets", method: "GET", status: 200 }, value: 2 },
    { labels: { route: "/v1/pets", method: "POST", status: 200 }, value: 1 },
    { labels: { route: "/v1/pets", method: "other", status: 200 }, value: 1 },
  ]);
});

it("counts problems by their code", () => {
  const meter = createRequestMeter();
  meter.count({ route: "/v1/pets", problem: "API_KEY_MISSING" }, "GET", 401, 1);
  meter.count({ route: "/v1/pets", problem: "API_KEY_MISSING" }, "GET", 401, 1);
  expect(samplesOf(meter, problems)).toEqual([
    { labels: { route: "/v1/pets", method: "GET", code: "API_KEY_MISSING" }, value: 2 },
  ]);
});

it.each([
  [4, "0.005"],
  [5, "0.005"],
  [6, "0.01"],
  [2_500, "2.5"],
  [2_501, "+Inf"],
])("a request of %i ms is in the bucket up to %s s and all wider ones", (durationMs, narrowest) => {
  const meter = createRequestMeter();
  meter.count({ route: "/v1/pets" }, "GET", 200, durationMs);
  const samples = samplesOf(meter, durations);
  const buckets = samples.filter(({ metricName }) => metricName?.endsWith("_bucket"));
  const first = buckets.findIndex(({ value }) => value === 1);
  expect(`${buckets[first]?.labels.le}`).toBe(narrowest);
  expect(buckets.slice(first).every(({ value }) => value === 1)).toBe(true);
  expect(samples.find(({ metricName }) => metricName?.endsWith("_sum"))?.value).toBe(durationMs / 1_000);
  expect(samples.find(({ metricName }) => metricName?.endsWith("_count"))?.value).toBe(1);
});

it("has a bound on its series, beyond which all is counted as other and nothing is lost", () => {
  const meter = createRequestMeter(100);
  let sent = 0;
  for (let route = 0; route < 200; route++) {
    for (const method of ["GET", "POST", "DELETE"]) {
      for (const status of [200, 400, 404, 500]) {
        meter.count({ route: `/${route}`, problem: `CODE_${status}_${route}` }, method, status, 3);
        sent += 1;
      }
    }
  }
  const all = meter.families.flatMap((family) => family.samples());
  expect(all.length).toBeLessThan(130);
  expect(samplesOf(meter, requests).reduce((sum, { value }) => sum + value, 0)).toBe(sent);
  expect(samplesOf(meter, problems).reduce((sum, { value }) => sum + value, 0)).toBe(sent);
});
