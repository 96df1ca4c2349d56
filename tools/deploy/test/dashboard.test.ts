import { expect, it } from "vitest";
import { type Panel, readDashboard } from "./dashboard.js";

const columns = 24;

it("the dashboard has what Grafana needs to load it: an identity, a known schema, a data source to choose", async () => {
  const { dashboard } = await readDashboard();
  expect(dashboard).toMatchObject({ title: "Pet store", uid: "petstore" });
  expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
  const variables = dashboard.templating.list.map(({ name, type }) => `${type} ${name}`);
  expect(variables).toEqual(["datasource datasource", "query service"]);
});

it("every panel has a number, a title, a data source and something to ask for", async () => {
  const { dashboard } = await readDashboard();
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { type, title, datasource, targets = [] } of dashboard.panels) {
    expect(title).not.toBe("");
    expect(["row", "stat", "timeseries"]).toContain(type);
    if (type === "row") continue;
    expect(datasource).toEqual({ type: "prometheus", uid: `\${datasource}` });
    expect(targets.map(({ refId }) => refId)).toEqual(targets.map((_, index) => "ABCDEFGH"[index]));
    for (const { expr, legendFormat } of targets) expect([expr, legendFormat]).not.toContain("");
  }
});

it("no panel lies on another or beyond the edge", async () => {
  const { dashboard } = await readDashboard();
  const taken = new Map<string, string>();
  for (const panel of dashboard.panels) {
    expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(columns);
    for (const cell of cellsOf(panel)) {
      expect(taken.get(cell), `${panel.title} lies on it`).toBeUndefined();
      taken.set(cell, panel.title);
    }
  }
});

function cellsOf({ gridPos: { x, y, w, h } }: Panel): string[] {
  return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`);
}
