// PostgreSQL of compose.ha.yaml, with its Patroni and HAProxy configuration, on the programs of this machine: two nodes, one etcd.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithProgram } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import {
  openEtcdServer,
  openServerDirectory,
  postgresPath,
  query,
  runPostgresProgram,
} from "@petstore/harness/postgres";
import { expect, it } from "vitest";
import { petstore, read, run } from "./commands.js";
import { makeSecrets, readCompose, startContainer, startHaproxy } from "./containers.js";

const hosts = { postgres1: "127.0.0.21", postgres2: "127.0.0.22" };
const timeout = 120_000;

describeWithProgram(["patroni", "etcd", "haproxy", "postgres"], "PostgreSQL of compose.ha.yaml", () => {
  it("has a synchronous standby, which becomes the primary at the same address", { timeout: 600_000 }, async () => {
    await using directory = await openServerDirectory();
    await using secrets = await makeSecrets();
    await using etcd = await openEtcdServer();
    const ports = { postgres: await choosePort(undefined), patroni: await choosePort(undefined) };
    const environment = { PATH: postgresPath, HOME: directory.path, LC_ALL: "C.UTF-8" };
    const start = (name: keyof typeof hosts) => {
      const home = join(directory.path, name);
      return startContainer({
        file: "compose.ha.yaml",
        name,
        secrets: secrets.path,
        directory: home,
        environment: { ...environment, HOSTNAME: hosts[name] },
        replacements: [
          ["/tmp/", `${home}/data/`],
          ["/var/run/postgresql", '""'],
          ["/var/lib/postgresql/18", `${home}/data`],
          ["/usr/lib/postgresql/18/bin", postgresPath.split(":")[0] ?? ""],
          ["0.0.0.0", hosts[name]],
          [":5432", `:${ports.postgres}`],
          [":8008", `:${ports.patroni}`],
          [/etcd1:2379\S*/g, new URL(etcd.url).host],
        ],
      });
    };
    const addressOf = (name: keyof typeof hosts) => `http://${hosts[name]}:${ports.patroni}`;
    await using first = await start("postgres1");
    await first.until(() => isAnswering(`${addressOf("postgres1")}/primary`), timeout);
    await using second = await start("postgres2");
    await second.until(() => isAnswering(`${addressOf("postgres2")}/sync`), timeout);

    const [port, healthPort] = [await choosePort(undefined), await choosePort(undefined)];
    await using balancer = await startHaproxy("ha/haproxy.cfg", [
      ["postgres1:5432", `${hosts.postgres1}:${ports.postgres}`],
      ["postgres2:5432", `${hosts.postgres2}:${ports.postgres}`],
      ["postgres3:5432", `127.0.0.23:${ports.postgres}`],
      ["port 8008", `port ${ports.patroni}`],
      ["bind :5432", `bind :${port}`],
      ["bind :8080", `bind :${healthPort}`],
    ]);
    await balancer.until(() => isHealthy(healthPort), timeout);
    const urlOf = async (secret: string) => {
      const url = new URL(await readFile(join(secrets.path, secret), "utf8"));
      // The certificate has the name of the container. On a busy machine a commit may wait for a standby that has left.
      const search = "sslmode=no-verify&query_timeout=60000";
      return Object.assign(url, { host: `127.0.0.1:${port}`, search }).href;
    };
    const ownerUrl = await urlOf("database-owner-url");
    await expect.poll(() => query(ownerUrl, "select 1 as one"), { timeout }).toEqual([{ one: 1 }]);
    await petstore(ownerUrl, "migrate");

    const metricsOf = async (origin: string) => (await fetch(`${origin}/metrics`)).text();
    const metrics = await Promise.all([addressOf("postgres1"), etcd.url].map(metricsOf));
    const alerts = await read("prometheus/alerts.ha.yaml");
    const asked = alerts.match(/\b(?:patroni|etcd)_\w+/g) ?? expect.unreachable("no alert asks for a metric");
    for (const name of asked) expect(metrics.join("\n")).toMatch(new RegExp(`^${name}[{ ]`, "m"));

    const url = await urlOf("database-url");
    const create = "insert into pets (name, category_id, status) values ('Rex', 1, 'sold') returning id::int";
    expect(await query(url, create)).toEqual([{ id: 1 }]);
    const patronictl = (...words: readonly string[]) =>
      runPostgresProgram("sh", [join(directory.path, "postgres1/run.sh"), "patronictl", ...words], {
        environment: { ...environment, HOSTNAME: hosts.postgres1 },
      });
    expect(await patronictl("list")).toMatch(/127\.0\.0\.22 .* Sync Standby /);
    await patronictl("switchover", "--force");
    await second.until(() => isAnswering(`${addressOf("postgres2")}/primary`), timeout);
    // For a moment, HAProxy takes both nodes for the primary.
    const ask = (text: string) => query(url, text).catch((error: unknown) => `${error}`);
    await expect.poll(() => ask(create), { timeout, interval: 1_000 }).toEqual([{ id: expect.any(Number) }]);
    const count = "select count(*)::int from pets where id = 1";
    await expect.poll(() => ask(count), { timeout, interval: 1_000 }).toEqual([{ count: 1 }]);
  });
});

/** Runs the health check of the container. */
async function isHealthy(healthPort: number): Promise<boolean> {
  const { services } = await readCompose("compose.ha.yaml");
  const [, program = "", ...words] = services.postgres?.healthcheck?.test ?? [];
  const here = words.map((word) => word.replace("127.0.0.1/8080", `127.0.0.1/${healthPort}`).replaceAll("$$", "$"));
  return await run(program, here).then(
    () => true,
    () => false,
  );
}
