// The compose files, as docker-compose and the tests read them. There is no Docker daemon here: ha-postgres.test.ts and
// ha-redis.test.ts start the commands of compose.ha.yaml without containers.
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithProgram, describeWithRedis, shared } from "@petstore/harness";
import { openServerDirectory } from "@petstore/harness/postgres";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";
import { askOverTls, makeSecrets, readCompose, startContainer } from "./containers.js";
import { instructionsOf } from "./dockerfile.js";
import { documentedSettings } from "./image.js";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../", import.meta.url));
const secrets = await shared(makeSecrets());

describe.each([
  { file: "compose.override.yaml", servers: ["postgres"] },
  { file: "compose.ha.yaml", servers: ["postgres1", "postgres2", "postgres3"] },
])("compose.yaml with $file", async ({ file, servers }) => {
  const compose = await readCompose(file);
  const services = Object.entries(compose.services);
  const apis = services.flatMap(([name, service]) => (["rest", "graphql"].includes(name) ? service : []));

  it("gives no container a right that it does not need", () => {
    const hardened = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
    for (const [name, service] of services) {
      expect(service, name).toMatchObject(hardened);
      if (service.networks.includes("consensus")) expect(name).toMatch(/^(etcd|postgres)\d$|^prometheus$/);
    }
  });

  it("lets the migrations alone have the role that changes tables, and PostgreSQL alone its superuser", () => {
    const holdersOf = (secret: string) =>
      services.flatMap(([name, service]) => (service.secrets?.includes(secret) ? name : []));
    expect(holdersOf("database-owner-url")).toEqual(["migrate"]);
    expect(holdersOf("superuser-password")).toEqual(servers);
    expect(compose.services.migrate?.environment?.DATABASE_URL_FILE).toBe("/run/secrets/database-owner-url");
  });

  it("names images by their version, and HTTP ports for this machine alone", () => {
    for (const [name, { image, ports = [] }] of services) {
      if (!image.startsWith("petstore"))
        expect(image, name).toMatch(/:v?\d+\.\d+(\.\d+)?(-\w+)?(@sha256:[0-9a-f]{64})?$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it("has the secrets that make-secrets.sh makes, readable in the containers", async () => {
    for (const { file } of Object.values(compose.secrets)) {
      const path = join(secrets.path, basename(file));
      expect(await readFile(path, "utf8"), file).toMatch(/^\S{8,}/);
      expect((await stat(path)).mode & 0o777, file).toBe(0o644);
    }
  });

  it("gives the services their secrets as files alone, and only settings that they read", async () => {
    const known = [...(await documentedSettings()), "NODE_EXTRA_CA_CERTS"];
    expect(apis).toHaveLength(2);
    for (const { environment = {}, secrets = [] } of apis) {
      for (const [name, value] of Object.entries(environment)) {
        expect(known).toContain(name.replace(/_FILE$/, ""));
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
});

describeWithProgram("docker-compose", "docker-compose", () => {
  it.each([
    [],
    ["compose.yaml", "compose.override.yaml", "compose.tls.yaml"],
    ["compose.yaml", "compose.ha.yaml"],
    ["compose.yaml", "compose.ha.yaml", "compose.tls.yaml"],
  ])("accepts the files %j with all profiles", async (...files) => {
    const words = [...files.map((file) => `--file=${file}`), "--profile=watch", "--profile=tool", "config"];
    await run("docker-compose", words, { cwd: folder });
  });
});

it("compose.yaml builds its images from targets that the Dockerfile has", async () => {
  const { services } = await readCompose("compose.override.yaml");
  const builds = Object.values(services).flatMap(({ build }) => (typeof build === "object" ? build : []));
  expect(builds).not.toEqual([]);
  for (const { target } of builds) expect(await instructionsOf(target), target).not.toEqual([]);
});

it("compose.tls.yaml opens HTTPS alone to other machines", async () => {
  const { ports, environment } = (await readCompose("compose.tls.yaml")).services.balancer ?? {};
  expect(ports).toEqual(["127.0.0.1:8080:8080", `443:${environment?.TLS_PORT}`]);
});

it("make-secrets.sh closes the folder, and makes addresses of the two roles and certificates of the two servers", async () => {
  const read = (name: string) => readFile(join(secrets.path, name), "utf8");
  expect((await stat(secrets.path)).mode & 0o777).toBe(0o700);
  for (const [name, username] of [
    ["database-url", "petstore_service"],
    ["database-owner-url", "petstore"],
  ] as const) {
    const url = new URL(await read(name));
    expect(url).toMatchObject({ username, hostname: "postgres", search: "?sslmode=verify-full" });
  }
  const sentinels = "sentinel1:26379,sentinel2:26379,sentinel3:26379";
  expect((await read("redis-sentinel-url")).split("@")[1]).toBe(`${sentinels}/petstore`);
  const authority = new X509Certificate(await read("authority.crt"));
  for (const host of ["postgres", "redis"]) {
    const certificate = new X509Certificate(await read(`${host}.crt`));
    expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkHost(host)).toBe(host);
  }
});

it("make-secrets.sh prints the error of OpenSSL, and leaves no folder behind", async () => {
  await using directory = await openTemporaryDirectory();
  const openssl = '#!/bin/sh\necho "req: Unknown option: -CA" >&2\nexit 1\n';
  await writeFile(join(directory.path, "openssl"), openssl, { mode: 0o755 });
  const env = { PATH: `${directory.path}:${process.env.PATH}` };
  await expect(run("sh", [join(folder, "make-secrets.sh")], { cwd: directory.path, env })).rejects.toMatchObject({
    stderr: "req: Unknown option: -CA\n",
  });
  expect(await readdir(directory.path)).toEqual(["openssl"]);
});

describeWithRedis("the Redis of compose.override.yaml", () => {
  it("speaks TLS alone, with the certificate of its name, and answers nobody without the password", async () => {
    await using directory = await openServerDirectory();
    const port = await choosePort(undefined);
    await using redis = await startContainer({
      file: "compose.override.yaml",
      name: "redis",
      secrets: secrets.path,
      directory: directory.path,
      environment: { PATH: process.env.PATH },
      replacements: [["6379", `${port}`]],
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
