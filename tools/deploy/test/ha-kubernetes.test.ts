// The manifests of the overlay `ha` and of `stores`, as kustomize makes them. There is no cluster here: neither the schema of
// CloudNativePG's Cluster nor the values of Valkey's chart are checked. The statements in the Cluster run on a PostgreSQL.
import { readFile } from "node:fs/promises";
import { describeWithProgram } from "@petstore/harness";
import { openInstalledPostgres, openSession } from "@petstore/harness/postgres";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { issueKey, petstore } from "./image.js";
import { faultsOf, renderManifests } from "./manifests.js";

interface Cluster {
  readonly spec: {
    readonly instances: number;
    readonly postgresql: { readonly synchronous: object };
    readonly bootstrap: { readonly initdb: { readonly postInitApplicationSQL: readonly string[] } };
  };
}

const readKubernetes = async (name: string): Promise<unknown> =>
  parse(await readFile(new URL(`../kubernetes/${name}`, import.meta.url), "utf8"));

describeWithProgram("kubectl", "the overlay ha", () => {
  it("is what the API server takes, and has the addresses of the stores", async () => {
    const manifests = await renderManifests("ha");
    const found = manifests.filter(({ kind }) => kind !== "Secret" && kind !== "ServiceMonitor");
    expect(found.flatMap(faultsOf)).toEqual([]);
    const secrets = manifests.filter(({ kind }) => kind === "Secret").map(({ document }) => document as SecretDocument);
    const values = secrets.flatMap(({ data }) =>
      Object.values(data).map((value) => Buffer.from(value, "base64").toString()),
    );
    for (const value of values.filter((text) => text.includes("://"))) {
      expect(value).toMatch(/@(postgres-rw|valkey-sentinel-0\.valkey-sentinel-hl)\.petstore-stores\.svc:/);
    }
    const stores = await renderManifests("stores");
    expect(stores.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
      ["Namespace", "petstore-stores"],
      ["NetworkPolicy", "default-deny"],
      ["NetworkPolicy", "operator"],
      ["NetworkPolicy", "stores"],
      ["Cluster", "postgres"],
    ]);
    expect(stores.filter(({ kind }) => kind !== "Cluster").flatMap(faultsOf)).toEqual([]);
  });
});

describeWithProgram("kubectl", "the network policies of the stores", () => {
  const isNamed = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });
  const readPolicies = async () => {
    const manifests = await renderManifests("stores");
    return manifests.flatMap(({ kind, document }) =>
      kind === "NetworkPolicy" ? [(document as NetworkPolicy).spec] : [],
    );
  };

  it("deny every connection to a pod of the namespace that they do not allow", async () => {
    const policies = await readPolicies();
    expect(policies).toContainEqual({ podSelector: {}, policyTypes: ["Ingress"] });
    for (const { ingress = [] } of policies) {
      for (const { from } of ingress) expect(from).toHaveLength(1);
    }
  });

  it("let the pods of petstore, the stores themselves and the operator in, and no others", async () => {
    const rules = (await readPolicies()).flatMap(({ podSelector, ingress = [] }) =>
      ingress.map(({ from: [from] = [], ports }) => ({ to: podSelector, from, ports: ports?.map(({ port }) => port) })),
    );
    expect(rules).toEqual([
      { to: { matchLabels: { "cnpg.io/cluster": "postgres" } }, from: isNamed("cnpg-system"), ports: [5432, 8000] },
      { to: {}, from: isNamed("petstore"), ports: [5432, 6379, 26379] },
      { to: {}, from: { podSelector: {} }, ports: undefined },
    ]);
  });
});

describe("the values for the chart of Valkey", () => {
  it("keep counters, and name the Redis as REDIS_URL does", async () => {
    const values = await readKubernetes("stores/valkey-values.yaml");
    expect(values).toMatchObject({
      extraConfig: expect.stringContaining("maxmemory-policy noeviction"),
      persistence: { enabled: true },
      replica: { enabled: true, replicas: 3, minReplicasToWrite: 1 },
      sentinel: { enabled: true, replicas: 3, quorum: 2, masterSet: "petstore", existingSecret: "valkey-passwords" },
    });
  });

  it("use no key that version 1.0 of the chart refuses", async () => {
    const values = (await readKubernetes("stores/valkey-values.yaml")) as { readonly replica: object };
    for (const key of ["valkeyConfig", "dataStorage", "env"]) expect(values).not.toHaveProperty(key);
    for (const key of ["persistence", "sentinel"]) expect(values.replica).not.toHaveProperty(key);
  });
});

describeWithProgram("postgres", "the Cluster of CloudNativePG", () => {
  it("has three instances, of which two have each commit, and the rights of roles.sql", {
    timeout: 120_000,
  }, async () => {
    const cluster = (await readKubernetes("stores/postgres.yaml")) as Cluster;
    expect(cluster.spec.instances).toBe(3);
    expect(cluster.spec.postgresql.synchronous).toMatchObject({ number: 1, dataDurability: "required" });
    await using server = await openInstalledPostgres();
    const urlOf = (username: string) => Object.assign(new URL(server.url), { pathname: "petstore", username }).href;
    // The operator creates the database and its owner, runs the statements, and then lets the other role log in.
    for (const statement of ["create role petstore login", "create database petstore owner petstore"]) {
      await execute(server.url, statement);
    }
    for (const statement of cluster.spec.bootstrap.initdb.postInitApplicationSQL) {
      await execute(urlOf("postgres"), statement);
    }
    await execute(server.url, "alter role petstore_service login");
    await petstore(urlOf("petstore"), "migrate");
    expect(await issueKey(urlOf("petstore_service"))).toMatch(/^pets_live_/);
    expect(await petstore(urlOf("petstore_service"), "doctor")).toMatch(/^ok +database role: petstore_service reads/m);
  });
});

interface NetworkPolicy {
  readonly spec: {
    readonly podSelector: object;
    readonly ingress?: readonly {
      readonly from?: readonly object[];
      readonly ports?: readonly { readonly port: number }[];
    }[];
  };
}

interface SecretDocument {
  readonly data: Readonly<Record<string, string>>;
}

async function execute(url: string, statement: string): Promise<void> {
  await using session = await openSession(url);
  await session.query(statement);
}
