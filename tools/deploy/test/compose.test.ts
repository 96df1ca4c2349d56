// The compose files. Here is no Docker daemon: ha-postgres.test.ts and redis.test.ts start commands of their containers.
import { X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";
import { folder, run } from "./commands.js";
import { makeSecrets, readCompose } from "./containers.js";

const secrets = await shared(makeSecrets());

describe("the compose files", async () => {
  const files = await Promise.all(["compose.yaml", "compose.override.yaml", "compose.ha.yaml"].map(readCompose));
  const services = files.flatMap((compose) => Object.entries(compose.services));
  const [{ services: own, networks } = expect.unreachable("compose.yaml")] = files;
  const apis = [own.rest, own.graphql];

  it("give no container a right that it does not need", () => {
    const hardened = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
    for (const [name, service] of services) {
      // The other services extend one of compose.yaml.
      if (service.image !== undefined) expect(service, name).toMatchObject(hardened);
      if (service.networks?.includes("consensus")) expect(name).toMatch(/^(etcd|postgres)\d$|^prometheus$/);
    }
  });

  it("let the migrations alone have the role that changes tables, and PostgreSQL alone its superuser", () => {
    const holdersOf = (secret: string) =>
      services.flatMap(([name, service]) => (service.secrets?.includes(secret) ? name : []));
    expect(holdersOf("database-owner-url")).toEqual(["migrate"]);
    expect(holdersOf("superuser-password")).toEqual(["postgres", "postgres1", "postgres2", "postgres3"]);
  });

  it("give the services their secrets as files alone", () => {
    const environment = { DATABASE_URL_FILE: "/run/secrets/database-url", REDIS_URL_FILE: "/run/secrets/redis-url" };
    for (const api of apis) {
      expect(api).toMatchObject({ environment, secrets: ["database-url", "redis-url", "authority"] });
      expect(JSON.stringify(api?.environment)).not.toMatch(/(postgres|rediss?):/);
    }
  });

  it("name images by their version, and open HTTPS alone to other machines", async () => {
    for (const [name, { image = "petstore", ports = [] }] of services) {
      if (!image.startsWith("petstore"))
        expect(image, name).toMatch(/:v?\d+\.\d+(\.\d+)?(-\w+)?(@sha256:[0-9a-f]{64})?$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    const { ports, environment } = (await readCompose("compose.tls.yaml")).services.balancer ?? {};
    expect(ports).toEqual([`443:${environment?.TLS_PORT}`]);
  });

  it("tell the services how many they are, and ask of PostgreSQL no more connections than it has while one API is replaced", () => {
    const instances = apis.reduce((sum, api) => sum + (api?.deploy?.replicas ?? 0), 0);
    for (const api of apis) expect(Number(api?.environment?.QUOTA_INSTANCES)).toBe(instances);
    // The guide adds as many containers of an API as there are, and then removes the old ones.
    const whileRolling = instances + Math.max(...apis.map((api) => api?.deploy?.replicas ?? 0));
    const poolSize = Number(own.rest?.environment?.DATABASE_POOL_SIZE);
    // PostgreSQL keeps 3 of its 100 connections for its superuser, and the petstore command needs some.
    expect(whileRolling * (poolSize + 2)).toBeLessThanOrEqual(100 - 3 - 5);
  });

  it("wait longer for a service that stops than it drains, and let only the balancer name client addresses", () => {
    for (const api of apis) {
      const timeoutMs = Number.parseInt(api?.stop_grace_period ?? "", 10) * 1_000;
      expect(timeoutMs).toBeGreaterThanOrEqual(Number(api?.environment?.SHUTDOWN_GRACE_MS) + 10_000);
      expect(api?.environment?.TRUST_PROXY).toBe(networks.services.ipam.config[0]?.subnet);
    }
  });

  it("mount secrets that make-secrets.sh makes, in a folder that only its user enters", async () => {
    expect((await stat(secrets.path)).mode & 0o777).toBe(0o700);
    for (const { file } of files.flatMap((compose) => Object.values(compose.secrets ?? {}))) {
      // The users of the containers read them.
      expect((await stat(join(secrets.path, basename(file)))).mode & 0o777, file).toBe(0o644);
    }
  });
});

it("make-secrets.sh makes the addresses of the two roles, and the certificates of the two servers", async () => {
  const read = (name: string) => readFile(join(secrets.path, name), "utf8");
  const server = "@postgres:5432/petstore?sslmode=verify-full";
  // ha-postgres.test.ts logs in with both.
  expect(await read("database-url")).toBe(`postgres://petstore_service:${await read("service-password")}${server}`);
  expect(await read("database-owner-url")).toBe(`postgres://petstore:${await read("owner-password")}${server}`);
  const sentinels = "sentinel1:26379,sentinel2:26379,sentinel3:26379";
  expect((await read("redis-sentinel-url")).split("@")[1]).toBe(`${sentinels}/petstore`);
  const authority = new X509Certificate(await read("authority.crt"));
  for (const host of ["postgres", "redis"]) {
    const certificate = new X509Certificate(await read(`${host}.crt`));
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkHost(host)).toBe(host);
  }
});

it("make-secrets.sh says what it made, and changes nothing and says so when it runs again", async () => {
  await using directory = await openTemporaryDirectory();
  const makeOnce = () => run("sh", [join(folder, "make-secrets.sh")], { cwd: directory.path });
  expect((await makeOnce()).stdout).toContain(`in ${join(directory.path, "secrets")}.`);
  const password = () => readFile(join(directory.path, "secrets/owner-password"), "utf8");
  const made = await password();
  await expect(makeOnce()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was changed") });
  expect(await password()).toBe(made);
});
