// The dashboard as Grafana's schema has it, as far as it is used here.
import { readFile } from "node:fs/promises";

interface Dashboard {
  readonly title: string;
  readonly uid: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

export interface Panel {
  readonly id: number;
  readonly type: "row" | "stat" | "timeseries";
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

export interface ReadDashboard {
  readonly dashboard: Dashboard;
  /** Every PromQL expression in it. */
  readonly expressions: readonly string[];
}

export async function readDashboard(): Promise<ReadDashboard> {
  const text = await readFile(new URL("../grafana/petstore.json", import.meta.url), "utf8");
  const dashboard = JSON.parse(text) as Dashboard;
  const asked = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return { dashboard, expressions: [...asked, ...dashboard.annotations.list.map(({ expr }) => expr)] };
}
