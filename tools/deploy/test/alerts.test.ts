import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeWithProgram } from "@petstore/harness";
import { openTemporaryDirectory, type TemporaryDirectory } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { readDashboard } from "./dashboard.js";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../prometheus/", import.meta.url));

describeWithProgram("promtool", "the alert rules, as Prometheus reads them", () => {
  it("and the configuration that loads them are valid", async () => {
    const { stdout } = await run("promtool", ["check", "config", "prometheus.yaml"], { cwd: folder });
    expect(stdout).toMatch(/SUCCESS: 1 rule files found[\s\S]*SUCCESS: \d+ rules found/);
  });

  it("fire exactly where they should", async () => {
    const { stdout } = await run("promtool", ["test", "rules", "alerts.test.yaml"], { cwd: folder });
    expect(stdout).toContain("SUCCESS");
  });

  it("are caught by their own tests when a threshold is wrong", async () => {
    await using copy = await copyWith((rules) => rules.replace("> 0.25", "> 25"));
    const failed = run("promtool", ["test", "rules", "alerts.test.yaml"], { cwd: copy.path });
    await expect(failed).rejects.toMatchObject({ code: 1 });
  });

  it("the dashboard asks in expressions that Prometheus can read", async () => {
    const { expressions } = await readDashboard();
    // As recording rules, with a duration in place of Grafana's own variable.
    const rules = expressions.map((expression, index) => ({ record: `panel_${index}`, expr: concrete(expression) }));
    const document = JSON.stringify({ groups: [{ name: "dashboard", rules }] });
    await using copy = await copyWith(() => document);
    const { stdout } = await run("promtool", ["check", "rules", "alerts.yaml"], { cwd: copy.path });
    expect(stdout).toContain(`${expressions.length} rules found`);
  });
});

it("every alert is seen firing in a test, says how urgent it is, and leads to a section of the guide", async () => {
  const rules = parse(await readFile(join(folder, "alerts.yaml"), "utf8")) as Rules;
  const tests = await readFile(join(folder, "alerts.test.yaml"), "utf8");
  const guide = await readFile(join(folder, "../operations.md"), "utf8");
  const anchors = [...guide.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => anchorOf(title));
  for (const { alert, labels, annotations } of rules.groups.flatMap((group) => group.rules)) {
    expect(tests).toContain(`alertname="${alert}"`);
    expect(["page", "warn"]).toContain(labels.severity);
    expect(anchors).toContain(annotations.runbook.split("#")[1]);
    expect(guide).toContain(alert);
  }
});

interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

/** As the places that show Markdown make it. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

function concrete(expression: string): string {
  return expression.replaceAll("$__rate_interval", "1m").replaceAll("$service", ".*");
}

/** A folder with the changed rules and their tests. */
async function copyWith(change: (rules: string) => string): Promise<TemporaryDirectory> {
  const directory = await openTemporaryDirectory();
  const rules = await readFile(join(folder, "alerts.yaml"), "utf8");
  await writeFile(join(directory.path, "alerts.yaml"), change(rules));
  await writeFile(join(directory.path, "alerts.test.yaml"), await readFile(join(folder, "alerts.test.yaml")));
  return directory;
}
