import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describeWithProgram } from "@petstore/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readDockerfile, stagesOf } from "./dockerfile.js";
import { readManifests } from "./manifests.js";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../", import.meta.url));

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: { readonly services: { readonly ipam: { readonly config: readonly { subnet: string }[] } } };
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly build?: { readonly target: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly deploy?: { readonly replicas: number };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly stop_grace_period?: string;
}

let compose: Compose;
let doors: readonly Service[] = [];

beforeAll(async () => {
  compose = parse(await readFile(join(folder, "compose.yaml"), "utf8"), { merge: true }) as Compose;
  doors = [compose.services.rest, compose.services.graphql].filter((service) => service !== undefined);
});

describeWithProgram("docker-compose", "the compose file, as docker-compose reads it", () => {
  it("is valid with all its profiles", async () => {
    const { stdout } = await run("docker-compose", ["--profile", "watch", "--profile", "tool", "config"], {
      cwd: folder,
    });
    const { services } = parse(stdout) as Compose;
    const expected = ["balancer", "graphql", "migrate", "petstore", "postgres", "prometheus", "redis", "rest"];
    expect(Object.keys(services).sort()).toEqual(expected);
  });

  it("a misspelt key is found", async () => {
    const text = (await readFile(join(folder, "compose.yaml"), "utf8")).replace("stop_grace_period", "stop_grace");
    const child = run("docker-compose", ["--file", "-", "config"], { cwd: folder });
    child.child.stdin?.end(text);
    await expect(child).rejects.toThrow("stop_grace");
  });
});

describe("the compose file", () => {
  it("builds its images from targets that the Dockerfile has", async () => {
    const targets = stagesOf(await readDockerfile()).map(({ name }) => name);
    const built = Object.values(compose.services).flatMap(({ build }) => (build ? [build.target] : []));
    expect(new Set(built)).toEqual(new Set(["rest", "graphql", "petstore"]));
    expect(targets).toEqual(expect.arrayContaining(built));
  });

  it("gives the services no right and no disk, and secrets as files alone", () => {
    expect(doors).toHaveLength(2);
    for (const { read_only, cap_drop, environment = {}, secrets = [] } of doors) {
      expect({ read_only, cap_drop }).toEqual({ read_only: true, cap_drop: ["ALL"] });
      for (const [name, value] of Object.entries(environment)) {
        expect(value).not.toMatch(/^(postgres|rediss?):/);
        if (name.endsWith("_FILE")) expect(secrets).toContain(value.replace("/run/secrets/", ""));
      }
      expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining([...secrets]));
    }
  });

  it("tells the services how many they are, and asks of PostgreSQL no more connections than it has", () => {
    const instances = doors.reduce((sum, { deploy }) => sum + (deploy?.replicas ?? 0), 0);
    const asked = doors.map(({ deploy, environment }) => {
      expect(Number(environment?.QUOTA_INSTANCES)).toBe(instances);
      return (deploy?.replicas ?? 0) * (Number(environment?.DATABASE_POOL_SIZE) + 1);
    });
    expect(asked.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(100 - 3 - 5);
  });

  it("waits longer for a service that stops than it drains, and believes the balancer alone about addresses", () => {
    for (const { stop_grace_period, environment } of doors) {
      const patienceMs = Number.parseInt(stop_grace_period ?? "", 10) * 1_000;
      expect(patienceMs).toBeGreaterThanOrEqual(Number(environment?.SHUTDOWN_GRACE_MS) + 10_000);
      expect(environment?.TRUST_PROXY).toBe(compose.networks.services.ipam.config[0]?.subnet);
    }
  });

  it("runs a Redis that evicts nothing", () => {
    expect(compose.services.redis?.command?.join(" ")).toContain("--maxmemory-policy noeviction");
  });

  it("the guide's commands make every secret it names", async () => {
    const guide = await readFile(join(folder, "operations.md"), "utf8");
    const commands = /<!-- secrets -->\n```sh\n([^`]*)```/.exec(guide)?.[1] ?? "";
    const place = await mkdtemp(join(tmpdir(), "petstore-secrets-"));
    try {
      await run("sh", ["-euc", commands], { cwd: place });
      for (const { file } of Object.values(compose.secrets)) {
        expect(await readFile(join(place, file), "utf8"), file).toMatch(/^\S{10,}$/);
      }
    } finally {
      await rm(place, { recursive: true });
    }
  });
});

it("every variable that is set somewhere is one the services read", async () => {
  const documented = await readFile(new URL("../../../packages/core/.env.example", import.meta.url), "utf8");
  const known = new Set([...documented.matchAll(/^#? ?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name));
  const inManifests = (await readManifests()).map(({ document }) => (document as { data?: object }).data ?? {});
  const inImages = stagesOf(await readDockerfile())
    .flatMap(({ steps }) => steps)
    .filter(({ keyword }) => keyword === "ENV")
    .flatMap(({ text }) => [...text.matchAll(/(\w+)=/g)].map(([, name = ""]) => name))
    .filter((name) => name !== "CI" && name !== "NODE_ENV");
  const set = [...doors.map(({ environment = {} }) => environment), ...inManifests].flatMap((map) => Object.keys(map));
  for (const name of [...set, ...inImages]) expect(known, name).toContain(name.replace(/_FILE$/, ""));
});
