// Prometheus can read the alerts and the dashboard, the metrics in them exist, and every alert leads to the guide.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort } from "@petstore/embedded-postgres";
import { createTestDatabase, describeWithProgram } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import { anchorsOf, markedCommands, openTemporaryDirectory, startService } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { folder, issueKey, read, restMain, run } from "./commands.js";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook: string };
}

const cwd = join(folder, "prometheus");
const [guide, dashboard] = [await read("operations.md"), await read("grafana/petstore.json")];
const alertTests = await read("prometheus/alerts.test.yaml");
const rulesOf = async (name: string): Promise<Rule[]> =>
  parse(await read(name)).groups.flatMap((group: { readonly rules: Rule[] }) => group.rules);
/** The rules on the metrics of the services. The others are on those of Patroni, etcd and redis_exporter. */
const rules = await rulesOf("prometheus/alerts.yaml");
const haRules = await rulesOf("prometheus/alerts.ha.yaml");
/** On metrics of node_exporter, postgres_exporter and blackbox_exporter. */
const hostRules = await rulesOf("prometheus/alerts.hosts.yaml");
const questions = [...dashboard.matchAll(/"expr": (".*")/g)].map(([, expr = ""]) => JSON.parse(expr) as string);

describeWithProgram("promtool", "Prometheus", () => {
  it("accepts its configuration and the alert rules, which fire exactly where they should", async () => {
    const { stdout } = await run("promtool", ["check", "config", "prometheus.yaml"], { cwd });
    expect(stdout).toContain("3 rule files found");
    await run("promtool", ["test", "rules", "alerts.test.yaml"], { cwd });
  });

  it("can read the expressions of the dashboard", async () => {
    // As recording rules, with values in place of Grafana's own variables.
    const concrete = questions.map((one) => one.replaceAll("$__rate_interval", "1m").replaceAll("$service", ".*"));
    const recorded = concrete.map((expr, index) => ({ record: `panel_${index}`, expr }));
    await using directory = await openTemporaryDirectory();
    const file = join(directory.path, "rules.json");
    await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
    const { stdout } = await run("promtool", ["check", "rules", file]);
    expect(stdout).toContain(`${questions.length} rules found`);
  });
});

it.each([...rules, ...haRules, ...hostRules])(
  "$alert is seen firing in a test, says how urgent it is, and leads to a section of the guide",
  (rule) => {
    expect(alertTests).toContain(`alertname="${rule.alert}"`);
    expect(["page", "warn"]).toContain(rule.labels.severity);
    const [file, section] = rule.annotations.runbook.split("#");
    expect(file).toBe("tools/deploy/operations.md");
    expect(anchorsOf(guide)).toContain(section);
    expect(guide).toContain(rule.alert);
  },
);

it("the command of the guide records a backup in the metric that the alert reads", async () => {
  await using directory = await openTemporaryDirectory();
  const commands = await markedCommands("tools/deploy/operations.md", "backup-completed");
  // Twice: the second backup replaces the first.
  for (const _ of [1, 2])
    await run("sh", ["-euc", commands], { env: { ...process.env, TEXTFILE_DIRECTORY: directory.path } });
  expect(await readdir(directory.path)).toEqual(["petstore-backup.prom"]);
  const [name, seconds] = (await readFile(join(directory.path, "petstore-backup.prom"), "utf8")).trimEnd().split(" ");
  expect(hostRules.find(({ alert }) => alert === "PetstoreBackupOld")?.expr).toContain(`max(${name})`);
  expect(Math.abs(Number(seconds) - Date.now() / 1_000)).toBeLessThan(3_600);
});

// The GraphQL service registers the same metrics, in packages/http.
it("the dashboard and the alerts use only metrics that a service exports", async () => {
  await using database = await createTestDatabase();
  const key = await issueKey(database.url);
  const port = await choosePort(undefined);
  await using service = await startService({
    main: restMain,
    environment: { DATABASE_URL: database.url, METRICS_PORT: `${port}` },
  });
  await service.until(() => isAnswering(`${service.origin}/readyz`));
  // A refusal is a request, a problem and a decision. The look-up of a key is a statement.
  const address = `${service.origin}/v1/pets`;
  await fetch(address);
  await fetch(address, { headers: { Authorization: `Bearer ${key}` } });
  let exported = "";
  await service.until(async () => {
    exported = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^petstore_http_problems_total\{/m.test(exported) && /^db_client_operation_duration_.*\{/m.test(exported);
  });

  for (const expression of [...questions, ...rules.map(({ expr }) => expr)]) {
    const withoutGrouping = expression.replaceAll(/\bby \([^)]*\)/g, "");
    // A name of more than one word, which is no function.
    for (const [, name = "", matchers = ""] of withoutGrouping.matchAll(/\b([a-z]+_\w+)(?:\{([^}]*)\})?(?![\w(])/g)) {
      const series = exported.match(new RegExp(`^${name}[{ ].*`, "gm")) ?? expect.unreachable(`no metric ${name}`);
      const labelsOf = (text: string) => [...text.matchAll(/(\w+)=~?"/g)].map(([, label]) => label);
      const known = [...labelsOf(`${series}`), "job", "service", "instance"];
      expect(known, name).toEqual(expect.arrayContaining(labelsOf(matchers)));
    }
  }
});
