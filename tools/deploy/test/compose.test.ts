import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithProgram } from "@petstore/harness";
import { startProgram } from "@petstore/harness/processes";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readDockerfile, stagesOf } from "./dockerfile.js";
import { askOverTls, makeSecrets } from "./secrets.js";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../", import.meta.url));

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: { readonly services: { readonly ipam: { readonly config: readonly { subnet: string }[] } } };
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

interface Service {
  readonly image: string;
  readonly command?: readonly string[] | string;
  readonly build?: { readonly target: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly deploy?: { readonly replicas: number };
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
}

let compose: Compose;
let apis: readonly Service[] = [];

beforeAll(async () => {
  compose = parse(await readFile(join(folder, "compose.yaml"), "utf8"), { merge: true }) as Compose;
  apis = [compose.services.rest, compose.services.graphql].filter((service) => service !== undefined);
});

describeWithProgram("docker-compose", "the compose file, as docker-compose reads it", () => {
  it("is valid with all its profiles, and with compose.tls.yaml, which opens HTTPS alone to other machines", async () => {
    const files = ["--file", "compose.yaml", "--file", "compose.tls.yaml"];
    const words = [...files, "--profile", "watch", "--profile", "tool", "config"];
    const { stdout } = await run("docker-compose", words, { cwd: folder });
    const { services: accepted } = parse(stdout) as Compose;
    const expected = ["balancer", "graphql", "migrate", "petstore", "postgres", "prometheus", "redis", "rest"];
    expect(Object.keys(accepted).sort()).toEqual(expected);
    const { services } = parse(await readFile(join(folder, "compose.tls.yaml"), "utf8")) as Compose;
    const { ports, environment } = services.balancer ?? {};
    expect(ports).toEqual([`443:${environment?.TLS_PORT}`]);
  });
});

describe("the compose file", () => {
  it("builds its images from targets that the Dockerfile has", async () => {
    const targets = stagesOf(await readDockerfile()).map(({ name }) => name);
    const built = Object.values(compose.services).flatMap(({ build }) => (build ? [build.target] : []));
    expect(new Set(built)).toEqual(new Set(["rest", "graphql", "petstore"]));
    expect(targets).toEqual(expect.arrayContaining(built));
  });

  it("gives the services their secrets as files alone", () => {
    expect(apis).toHaveLength(2);
    for (const { environment = {}, secrets = [] } of apis) {
      for (const [name, value] of Object.entries(environment)) {
        expect(value).not.toMatch(/^(postgres|rediss?):/);
        if (name.endsWith("_FILE")) expect(secrets).toContain(value.replace("/run/secrets/", ""));
      }
    }
  });

  it("tells the services how many they are, and asks of PostgreSQL no more connections than it has", () => {
    const instances = apis.reduce((sum, { deploy }) => sum + (deploy?.replicas ?? 0), 0);
    const asked = apis.map(({ deploy, environment }) => {
      expect(Number(environment?.QUOTA_INSTANCES)).toBe(instances);
      return (deploy?.replicas ?? 0) * (Number(environment?.DATABASE_POOL_SIZE) + 2);
    });
    expect(asked.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(100 - 3 - 5);
  });

  it("waits longer for a service that stops than it drains, and believes the balancer alone about addresses", () => {
    for (const { stop_grace_period, environment } of apis) {
      const timeoutMs = Number.parseInt(stop_grace_period ?? "", 10) * 1_000;
      expect(timeoutMs).toBeGreaterThanOrEqual(Number(environment?.SHUTDOWN_GRACE_MS) + 10_000);
      expect(environment?.TRUST_PROXY).toBe(compose.networks.services.ipam.config[0]?.subnet);
    }
  });

  it("starts the balancer with the configuration that another test starts", () => {
    const mounted = "./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro";
    expect(compose.services.balancer?.volumes).toEqual([mounted]);
  });

  it("gives no container a right that it does not need", () => {
    const hardened = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
    for (const [name, service] of Object.entries(compose.services)) expect(service, name).toMatchObject(hardened);
  });

  it("lets the migrations alone have the role that changes tables, and PostgreSQL alone its superuser", () => {
    const holdersOf = (secret: string) =>
      Object.entries(compose.services).flatMap(([name, { secrets = [] }]) => (secrets.includes(secret) ? [name] : []));
    expect(holdersOf("database-owner-url")).toEqual(["migrate"]);
    expect(holdersOf("superuser-password")).toEqual(["postgres"]);
    expect(holdersOf("database-url").sort()).toEqual(["graphql", "petstore", "rest"]);
    expect(compose.services.migrate?.environment?.DATABASE_URL_FILE).toBe("/run/secrets/database-owner-url");
  });

  it("names images by their version, and HTTP ports for this machine alone", () => {
    for (const [name, { image, build, ports = [] }] of Object.entries(compose.services)) {
      if (build === undefined) expect(image, name).toMatch(/:v?\d+\.\d+(\.\d+)?(-\w+)?$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it("the guide's commands make every secret, readable in the containers and behind a closed folder", async () => {
    await using secrets = await makeSecrets();
    expect((await stat(secrets.path)).mode & 0o777).toBe(0o700);
    for (const { file } of Object.values(compose.secrets)) {
      const path = join(secrets.path, basename(file));
      expect(await readFile(path, "utf8"), file).toMatch(/^\S{10,}/);
      expect((await stat(path)).mode & 0o777, file).toBe(0o644);
    }
    for (const [name, username] of Object.entries({
      "database-url": "petstore_service",
      "database-owner-url": "petstore",
    })) {
      const url = new URL(await readFile(join(secrets.path, name), "utf8"));
      expect(url).toMatchObject({ username, hostname: "postgres", search: "?sslmode=verify-full" });
    }
    const authority = new X509Certificate(await readFile(join(secrets.path, "authority.crt")));
    for (const host of ["postgres", "redis"]) {
      const certificate = new X509Certificate(await readFile(join(secrets.path, `${host}.crt`)));
      expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(true);
      expect(certificate.checkHost(host)).toBe(host);
    }
  });
});

describeWithProgram("redis-server", "the Redis of the compose file", () => {
  it("speaks TLS alone, with the certificate of its name, and answers nobody without the password", async () => {
    await using secrets = await makeSecrets();
    const port = await choosePort(undefined);
    const [program = "", ...words] = (compose.services.redis?.command ?? "").toString().split(" ");
    const files = new Map(Object.entries(compose.secrets).map(([name, { file }]) => [name, basename(file)]));
    const given = words.map((word) =>
      word
        .replace(/^\/run\/secrets\/(.*)$/, (_, name: string) => join(secrets.path, files.get(name) ?? "missing"))
        .replace(/^6379$/, `${port}`),
    );
    await using redis = startProgram({
      name: "Redis",
      command: program,
      args: given,
      directory: secrets.path,
      environment: { PATH: process.env.PATH },
    });
    const ca = await readFile(join(secrets.path, "authority.crt"));
    const password = await readFile(join(secrets.path, "redis-password"), "utf8");
    const ask = (commands: string) => askOverTls({ port, servername: "redis", ca }, commands);
    await redis.until(async () => (await ask("QUIT\r\n").catch(() => "")) === "+OK\r\n");
    expect(await ask("PING\r\nQUIT\r\n")).toContain("-NOAUTH");
    expect(await ask(`AUTH ${password}\r\nPING\r\nQUIT\r\n`)).toBe("+OK\r\n+PONG\r\n+OK\r\n");
    expect(await ask(`AUTH ${password}\r\nCONFIG GET maxmemory-policy\r\nQUIT\r\n`)).toContain("noeviction");
  });
});

it("every variable that is set somewhere is one the services read", async () => {
  const documented = await readFile(new URL("../../../packages/core/.env.example", import.meta.url), "utf8");
  const known = new Set([...documented.matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name));
  const inImages = stagesOf(await readDockerfile())
    .flatMap(({ steps }) => steps)
    .filter(({ keyword }) => keyword === "ENV")
    .flatMap(({ text }) => [...text.matchAll(/(\w+)=/g)].map(([, name = ""]) => name))
    .filter((name) => name !== "CI" && name !== "NODE_ENV");
  const set = apis.flatMap(({ environment = {} }) => Object.keys(environment));
  known.add("NODE_EXTRA_CA_CERTS");
  for (const name of [...set, ...inImages]) expect(known, name).toContain(name.replace(/_FILE$/, ""));
});
