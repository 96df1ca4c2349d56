// PostgreSQL of compose.ha.yaml, with its Patroni and HAProxy configuration, on the programs of this machine: two nodes, one etcd.
import { execFile } from "node:child_process";
import { chmod, copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithProgram } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import {
  openServerDirectory,
  openSession,
  postgresPath,
  runPostgresProgram,
  serverUser,
} from "@petstore/harness/postgres";
import { type Program, startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { readComposeHa } from "./compose-ha-file.js";
import { petstore } from "./image.js";
import { answerNames } from "./names.js";
import { makeSecrets } from "./secrets.js";

const folder = fileURLToPath(new URL("../", import.meta.url));
const timeout = 120_000;

describeWithProgram("postgres", "PostgreSQL of compose.ha.yaml", () => {
  describeWithProgram("patroni", "with Patroni and HAProxy", () => {
    it("has a synchronous standby, which becomes the primary at the same address", { timeout: 600_000 }, async () => {
      await using directory = await openServerDirectory();
      await using secrets = await makeSecrets();
      const ports = { postgres: await choosePort(undefined), patroni: await choosePort(undefined) };
      await using etcd = await startEtcd(directory.path);
      const configure = { directory: directory.path, secrets: secrets.path, ports, etcd: etcd.address };
      await using first = await startNode({ ...configure, name: "postgres1", host: "127.0.0.21" });
      await first.until(() => isAnswering(`http://127.0.0.21:${ports.patroni}/primary`), timeout);
      await using second = await startNode({ ...configure, name: "postgres2", host: "127.0.0.22" });
      await second.until(() => isAnswering(`http://127.0.0.22:${ports.patroni}/sync`), timeout);

      await using names = await answerNames({ postgres1: ["127.0.0.21"], postgres2: ["127.0.0.22"] });
      const [port, healthPort] = [await choosePort(undefined), await choosePort(undefined)];
      await using balancer = startBalancer({ port, healthPort, dnsPort: names.port, ports });
      await balancer.until(() => isHealthy(healthPort), timeout);
      const urlOf = async (role: string, secret: string) => {
        const password = await readFile(join(secrets.path, secret), "utf8");
        // The certificate has the name of the container.
        return `postgres://${role}:${password}@127.0.0.1:${port}/petstore?sslmode=no-verify`;
      };
      const ownerUrl = await urlOf("petstore", "owner-password");
      await expect.poll(() => query(ownerUrl, "select 1 as one"), { timeout }).toEqual([{ one: 1 }]);
      await petstore(ownerUrl, "migrate");
      const doctor = await petstore(await urlOf("postgres", "superuser-password"), "doctor");
      expect(doctor).toMatch(
        /^ok +replication: 127\.0\.0\.21:\d+ is the primary with 1 standby, 1 of them synchronous$/m,
      );

      const metrics = await Promise.all(
        [`http://127.0.0.21:${ports.patroni}/metrics`, `${etcd.address}/metrics`].map(async (url) =>
          (await fetch(url)).text(),
        ),
      );
      for (const name of await metricsOfAlerts(/^(?:patroni|etcd)_/))
        expect(metrics.join("\n")).toMatch(new RegExp(`^${name}[{ ]`, "m"));

      const url = await urlOf("petstore_service", "service-password");
      const create = "insert into pets (name, category_id, status) values ('Rex', 1, 'sold') returning id::int";
      expect(await query(url, create)).toEqual([{ id: 1 }]);
      const patronictl = (...words: readonly string[]) =>
        runPostgresProgram("sh", [`${directory.path}/postgres1-run.sh`, "patronictl", ...words], {
          environment: { LC_ALL: "C.UTF-8", HOME: directory.path },
        });
      expect(await patronictl("list")).toMatch(/postgres2 .* Sync Standby /);
      await patronictl("switchover", "--force");
      await second.until(() => isAnswering(`http://127.0.0.22:${ports.patroni}/primary`), timeout);
      // For a moment, HAProxy takes both nodes for the primary.
      const ask = (text: string) => query(url, text).catch((error: unknown) => `${error}`);
      await expect.poll(() => ask(create), { timeout, interval: 1_000 }).toEqual([{ id: expect.any(Number) }]);
      const count = "select count(*)::int from pets where id = 1";
      await expect.poll(() => ask(count), { timeout, interval: 1_000 }).toEqual([{ count: 1 }]);
    });
  });
});

interface PatroniOptions {
  readonly name: string;
  readonly host: string;
  /** Holds everything of the nodes. */
  readonly directory: string;
  readonly secrets: string;
  readonly ports: { readonly postgres: number; readonly patroni: number };
  readonly etcd: string;
}

/** Patroni with the configuration and the command of the container, and the paths of this machine. */
async function startNode({ name, host, directory, secrets, ports, etcd }: PatroniOptions): Promise<Program> {
  const inDirectory = (text: string) =>
    text
      .replaceAll(/\/etc\/petstore\/|\/run\/secrets\/|\/tmp\//g, `${directory}/${name}-`)
      .replaceAll("/opt/patroni/bin/", "")
      .replaceAll("/var/run/postgresql", '""')
      .replaceAll("/var/lib/postgresql/18/patroni", `${directory}/${name}`)
      .replaceAll("/usr/lib/postgresql/18/bin", postgresPath.split(":")[0] ?? "")
      .replaceAll("0.0.0.0:5432", `${host}:${ports.postgres}`)
      .replaceAll("0.0.0.0:8008", `${host}:${ports.patroni}`)
      .replaceAll(/etcd1:2379\S*/g, new URL(etcd).host);
  const files = {
    "ha/run.sh": "run.sh",
    "ha/patroni.yaml": "patroni.yaml",
    "ha/create-store.sh": "create-store.sh",
    "postgres/roles.sql": "roles.sql",
  };
  for (const [source, target] of Object.entries(files)) {
    const path = `${directory}/${name}-${target}`;
    await writeFile(path, inDirectory(await readFile(join(folder, source), "utf8")));
    await chmod(path, 0o755);
  }
  const compose = await readComposeHa();
  const service = compose.services[name];
  for (const secret of service?.secrets ?? []) {
    const file = compose.secrets[secret]?.file.replace("./secrets/", "") ?? "";
    await copyFile(join(secrets, file), `${directory}/${name}-${secret}`);
  }
  const environment = Object.entries(service?.environment ?? {}).map(([key, value]) => [
    key,
    inDirectory(value)
      .replace(/^postgres\d:5432$/, `${host}:${ports.postgres}`)
      .replace(/^postgres\d:8008$/, `${host}:${ports.patroni}`),
  ]);
  return startProgram({
    name,
    command: "sh",
    args: [...(service?.entrypoint ?? []), ...(service?.command ?? [])].slice(1).map(inDirectory),
    environment: { PATH: postgresPath, HOME: directory, LC_ALL: "C.UTF-8", ...Object.fromEntries(environment) },
    directory,
    user: serverUser,
  });
}

async function startEtcd(directory: string) {
  const [port, peerPort] = [await choosePort(undefined), await choosePort(undefined)];
  const [address, peerAddress] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const program = startProgram({
    name: "etcd",
    command: "etcd",
    args: [
      ...["--data-dir", `${directory}/etcd`, "--listen-client-urls", address, "--advertise-client-urls", address],
      ...["--listen-peer-urls", peerAddress, "--initial-advertise-peer-urls", peerAddress],
      ...["--initial-cluster", `default=${peerAddress}`],
    ],
    environment: { PATH: postgresPath },
  });
  await program.until(() => isAnswering(`${address}/health`));
  return { ...program, address };
}

function startBalancer({
  port,
  healthPort,
  dnsPort,
  ports,
}: {
  port: number;
  healthPort: number;
  dnsPort: number;
  ports: PatroniOptions["ports"];
}): Program {
  return startProgram({
    name: "HAProxy",
    command: "haproxy",
    args: ["-db", "-q", "-f", join(folder, "ha/haproxy.cfg")],
    environment: {
      PATH: process.env.PATH,
      DNS_ADDRESS: `127.0.0.1:${dnsPort}`,
      LISTEN_PORT: `${port}`,
      HEALTH_PORT: `${healthPort}`,
      POSTGRES_PORT: `${ports.postgres}`,
      PATRONI_PORT: `${ports.patroni}`,
    },
  });
}

/** Runs the health check of the container. */
async function isHealthy(healthPort: number): Promise<boolean> {
  const { services } = await readComposeHa();
  const [, program = "", ...words] = services.postgres?.healthcheck?.test ?? [];
  const here = words.map((word) => word.replace("127.0.0.1/8080", `127.0.0.1/${healthPort}`).replaceAll("$$", "$"));
  return await promisify(execFile)(program, here).then(
    () => true,
    () => false,
  );
}

async function metricsOfAlerts(prefix: RegExp): Promise<string[]> {
  const alerts = await readFile(join(folder, "prometheus/alerts.ha.yaml"), "utf8");
  const { groups } = parse(alerts) as { groups: { rules: { expr: string }[] }[] };
  const words = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/\w+/g) ?? []));
  return words.filter((word) => prefix.test(word));
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  await using session = await openSession(url);
  return await session.query(text);
}
