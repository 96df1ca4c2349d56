import { readFile } from "node:fs/promises";
import { createTestDatabase } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { readDashboard } from "./dashboard.js";
import { petstore, startService } from "./image.js";

/** Prometheus creates these itself. */
const ofPrometheus = ["up", "ALERTS"];

it.each(["rest", "graphql"])("the dashboard and the alerts use only metrics that %s exports", async (image) => {
  await using database = await createTestDatabase();
  await petstore(database.url, "migrate");
  await using service = await startService(image, { DATABASE_URL: database.url });
  await service.until(() => isAnswering(`${service.origin}/readyz`));
  // A refusal is a request, a problem and a decision.
  await fetch(`${service.origin}${image === "rest" ? "/v1/pets" : "/graphql"}`);
  let exported = new Map<string, Set<string>>();
  await service.until(async () => {
    exported = seriesOf(await (await fetch(service.metricsUrl)).text());
    return exported.has("petstore_http_problems_total") && exported.has("nodejs_gc_duration_seconds_sum");
  });

  const asked = askedFor([...(await readDashboard()).expressions, ...(await alertExpressions())]);
  expect(asked.size).toBeGreaterThan(15);
  for (const [name, labels] of asked) {
    if (ofPrometheus.includes(name)) continue;
    expect([...exported.keys()]).toContain(name);
    expect([...(exported.get(name) ?? []), "job", "service", "instance"]).toEqual(expect.arrayContaining([...labels]));
  }
});

it("the check of the metrics finds an unknown name and an unknown label", () => {
  const exported = seriesOf('petstore_quota_mode{mode="local"} 1\nprocess_open_fds 12\n');
  expect([...exported]).toEqual([
    ["petstore_quota_mode", new Set(["mode"])],
    ["process_open_fds", new Set()],
  ]);
  const asked = askedFor(['sum by (le) (rate(made_up{kind="x",job=~"y.*"}[5m])) / sum(petstore_quota_mode)']);
  expect([...asked]).toEqual([
    ["made_up", new Set(["kind", "job"])],
    ["petstore_quota_mode", new Set()],
  ]);
});

/** The labels of each series in Prometheus's text format. */
function seriesOf(text: string): Map<string, Set<string>> {
  const series = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-zA-Z_]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const known = series.get(name) ?? new Set<string>();
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    series.set(name, known);
  }
  return series;
}

/** The metrics in PromQL expressions, with the labels they are chosen by. */
function askedFor(expressions: readonly string[]): Map<string, Set<string>> {
  const asked = new Map<string, Set<string>>();
  for (const expression of expressions) {
    const withoutGrouping = expression.replaceAll(/\bby \([^)]*\)/g, "");
    for (const [, name = "", matchers = ""] of withoutGrouping.matchAll(/\b([a-zA-Z_]\w*)(?:\{([^}]*)\})?(?![\w(])/g)) {
      if (!/_|^up$|^ALERTS$/.test(name) || /^\$?__/.test(name)) continue;
      const labels = asked.get(name) ?? new Set<string>();
      for (const [, label = ""] of matchers.matchAll(/(\w+)=~?"/g)) labels.add(label);
      asked.set(name, labels);
    }
  }
  return asked;
}

async function alertExpressions(): Promise<string[]> {
  const rules = parse(await readFile(new URL("../prometheus/alerts.yaml", import.meta.url), "utf8")) as {
    groups: { rules: { expr: string }[] }[];
  };
  return rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr));
}
