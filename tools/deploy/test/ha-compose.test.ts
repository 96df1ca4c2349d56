// compose.ha.yaml as docker-compose reads it. There is no Docker daemon here, so no test builds its image or starts its
// containers; ha-postgres.test.ts and ha-redis.test.ts start their commands and configurations without containers.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeWithProgram } from "@petstore/harness";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type ComposeHa, readComposeHa } from "./compose-ha-file.js";
import { makeSecrets } from "./secrets.js";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../", import.meta.url));

describe("compose.ha.yaml", () => {
  let compose: ComposeHa;
  beforeAll(async () => {
    compose = await readComposeHa();
  });

  it("starts the services and their balancer as compose.yaml does", async () => {
    const single = parse(await readFile(join(folder, "compose.yaml"), "utf8"), { merge: true }) as ComposeHa;
    for (const name of ["rest", "graphql", "balancer"]) {
      // They wait for other containers, and compose.yaml builds their images.
      const [here, there] = [compose, single].map(({ services: { [name]: service } }) => {
        const { REDIS_SENTINEL_PASSWORD_FILE: _, ...environment } = service?.environment ?? {};
        const secrets = service?.secrets?.filter((secret) => secret !== "sentinel-password");
        return { ...service, environment, secrets, depends_on: undefined, build: undefined };
      });
      expect(here).toEqual(there);
    }
  });

  it("gives no container a right that it does not need", () => {
    const hardened = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
    for (const [name, service] of Object.entries(compose.services)) expect(service, name).toMatchObject(hardened);
    const holdersOf = (secret: string) =>
      Object.entries(compose.services).flatMap(([name, { secrets = [] }]) => (secrets.includes(secret) ? [name] : []));
    expect(holdersOf("superuser-password")).toEqual(["postgres1", "postgres2", "postgres3"]);
    expect(holdersOf("database-owner-url")).toEqual(["migrate"]);
    for (const [name, { networks }] of Object.entries(compose.services)) {
      if (networks.includes("consensus")) expect(name).toMatch(/^(etcd|postgres)\d$|^prometheus$/);
    }
  });

  it("names images by their version, and ports for this machine alone", () => {
    const built = ["petstore", "petstore-postgres", "petstore-rest", "petstore-graphql"];
    for (const [name, { image, ports = [] }] of Object.entries(compose.services)) {
      if (!built.includes(image)) expect(image, name).toMatch(/:v?\d+\.\d+(\.\d+)?(-\w+)?$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it("has the secrets that make-secrets.sh creates, and the addresses of the three Sentinels", async () => {
    await using secrets = await makeSecrets();
    for (const { file } of Object.values(compose.secrets)) {
      expect(await readFile(join(secrets.path, basename(file)), "utf8"), file).toMatch(/^\S{8,}/);
    }
    const address = await readFile(join(secrets.path, "redis-sentinel-url"), "utf8");
    expect(address).toMatch(/^rediss\+sentinel:\/\/:\w+@sentinel1:26379,sentinel2:26379,sentinel3:26379\/petstore$/);
  });
});

describeWithProgram("docker-compose", "compose.ha.yaml, as docker-compose reads it", () => {
  it("is valid with all its profiles", async () => {
    const words = ["--file", "compose.ha.yaml", "--profile", "watch", "--profile", "tool", "config", "--services"];
    const { stdout } = await run("docker-compose", words, { cwd: folder });
    const names = stdout.trim().split("\n");
    for (const name of ["etcd", "postgres", "redis", "sentinel"]) {
      expect(names.filter((found) => new RegExp(`^${name}\\d$`).test(found))).toHaveLength(3);
    }
  });
});

describeWithProgram("haproxy", "the HAProxy of PostgreSQL", () => {
  it("has a configuration without a fault or a warning", async () => {
    await run("haproxy", ["-c", "-dW", "-f", join(folder, "ha/haproxy.cfg")]);
  });
});
