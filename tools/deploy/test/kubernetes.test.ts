// The manifests as kustomize makes them. There is no cluster here: neither the schema of CloudNativePG's Cluster nor the
// values of Valkey's chart are checked.
import { readFile } from "node:fs/promises";
import { BlockList } from "node:net";
import { describeWithProgram } from "@petstore/harness";
import { openInstalledPostgres, query } from "@petstore/harness/postgres";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Job } from "kubernetes-models/batch/v1";
import { Ingress, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, type ISecret, Secret, Service } from "kubernetes-models/v1";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { documentedSettings, issueKey, petstore } from "./image.js";
import { faultsOf, readManifests } from "./manifests.js";

const partOfPetstore = { "app.kubernetes.io/part-of": "petstore" };
const isNamed = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });

describeWithProgram("kubectl", "the Kubernetes manifests", async () => {
  const overlay = await readManifests("overlay");
  const deployments = overlay.filter(Deployment.is);
  const servicePods = deployments.flatMap(({ spec }) => spec?.template.spec ?? []);
  const migrationPods = overlay.filter(Job.is).flatMap(({ spec }) => spec?.template.spec ?? []);
  const [settings = {}] = overlay.filter(ConfigMap.is).map(({ data = {} }) => data);
  const secrets = overlay.filter(Secret.is);
  const [addresses = {}] = secrets.map(valuesOf);

  it.each(["overlay", "ha", "stores"] as const)(
    "of %s are what the API server takes, to the last field",
    async (folder) => {
      const manifests = await readManifests(folder);
      // kustomize generates the secrets, in base64 with line breaks. Operators define the two other kinds.
      const found = manifests.filter(({ kind }) => !["Secret", "ServiceMonitor", "Cluster"].includes(kind));
      expect(found.length).toBeGreaterThan(3);
      expect(found.flatMap(faultsOf)).toEqual([]);
    },
  );

  it("with a misspelt field are not", () => {
    const misspelt = JSON.parse(JSON.stringify(deployments[0]).replace('"livenessProbe":', '"livenesProbe":'));
    expect(faultsOf(misspelt)).toEqual(["/spec/template/spec/containers/0/livenesProbe is not a field"]);
  });

  it("run nothing as root, nothing that may write to its own file system or gain rights", () => {
    const securityContext = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    };
    for (const pod of [...servicePods, ...migrationPods]) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true },
        containers: [{ securityContext, resources: { limits: { memory: expect.any(String) } } }],
      });
    }
  });

  it("give a pod that stops the time to be noticed and to drain, and some", () => {
    const graceMs = Number(settings.SHUTDOWN_GRACE_MS);
    for (const { containers, terminationGracePeriodSeconds = 0 } of servicePods) {
      // Clients do not reach the metrics port.
      expect(containers).toMatchObject([{ readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } } }]);
      const { periodSeconds = 0, failureThreshold = 0 } = containers[0]?.readinessProbe ?? {};
      expect(graceMs).toBeGreaterThanOrEqual((periodSeconds * failureThreshold + 1) * 1_000);
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(graceMs + 10_000);
    }
  });

  it("keep secrets in files, and let the migrations alone have the role that changes tables", () => {
    for (const [name, value] of Object.entries(settings)) {
      expect(value).not.toMatch(/^(postgres|rediss?):/);
      if (name.endsWith("_FILE")) expect(Object.keys(addresses)).toContain(value.split("/").at(-1));
    }
    const [service = "", owner = ""] = secrets.map(({ metadata }) => metadata?.name ?? "");
    expect(owner).toMatch(/^petstore-owner-/);
    const secretsOf = (pods: typeof servicePods) =>
      pods.flatMap(({ volumes = [] }) => volumes.map(({ secret }) => secret?.secretName));
    expect(secretsOf(servicePods)).toEqual([service, service]);
    expect(secretsOf(migrationPods)).toEqual([owner]);
    expect(JSON.stringify(overlay)).not.toMatch(/secretKeyRef|secretRef/);
  });

  it("set only variables that the services read", async () => {
    const names = Object.keys(settings).map((name) => name.replace(/_FILE$/, ""));
    expect(await documentedSettings()).toEqual(expect.arrayContaining(names));
  });

  it("let Prometheus scrape both APIs, with the job that the alerts expect", () => {
    const spec = { jobLabel: "app.kubernetes.io/part-of", selector: { matchLabels: partOfPetstore } };
    expect(overlay.find(({ kind }) => kind === "ServiceMonitor")).toMatchObject({
      spec: { ...spec, endpoints: [{ targetPort: "metrics" }] },
    });
    const labels = overlay.filter(Service.is).map(({ metadata }) => metadata?.labels);
    expect(labels).toMatchObject([partOfPetstore, partOfPetstore]);
    for (const { containers } of servicePods) {
      expect(containers[0]?.ports).toContainEqual(expect.objectContaining({ name: "metrics" }));
    }
  });

  it.each([
    { folder: "overlay", host: /^(postgres|redis)\.example\.internal:/ },
    { folder: "ha", host: /^(postgres-rw|valkey-sentinel-0\.valkey-sentinel-hl)\.petstore-stores\.svc:/ },
  ] as const)(
    "of $folder reach their PostgreSQL and Redis over TLS, each with a password",
    async ({ folder, host }) => {
      const values = (await readManifests(folder))
        .filter(Secret.is)
        .flatMap((secret) => Object.values(valuesOf(secret)));
      const addresses = values.filter((text) => text.includes("://"));
      expect(addresses).toHaveLength(3);
      for (const address of addresses) {
        expect(address).toMatch(/^postgres:.*sslmode=verify-full$|^rediss[:+]/);
        expect(address.split(/:[^:/]+@/)[1]).toMatch(host);
      }
    },
  );

  it("end TLS at the ingress, for every host, and redirect to it", () => {
    const { host } = new URL(settings.PUBLIC_URL ?? "");
    const annotations = { "nginx.ingress.kubernetes.io/force-ssl-redirect": "true" };
    expect(overlay.filter(Ingress.is)).toMatchObject([
      { metadata: { annotations }, spec: { rules: [{ host }], tls: [{ hosts: [host] }] } },
    ]);
  });

  it("scale and disturb every deployment within bounds that the database and the quota know of", () => {
    const names = deployments.map(({ metadata }) => metadata?.name);
    const scalers = overlay.filter(HorizontalPodAutoscaler.is);
    expect(scalers.map(({ spec }) => spec?.scaleTargetRef.name)).toEqual(names);
    expect(overlay.filter(PodDisruptionBudget.is).map(({ metadata }) => metadata?.name)).toEqual(names);
    const most = scalers.reduce((sum, { spec }) => sum + (spec?.maxReplicas ?? 0), 0);
    expect(Number(settings.QUOTA_INSTANCES)).toBe(most);
    const whileRolling = most + deployments.length;
    const connections = whileRolling * (Number(settings.DATABASE_POOL_SIZE) + 2);
    // PostgreSQL allows 100 by default. It keeps 3 for its superuser, and the petstore command needs some.
    expect(connections).toBeLessThanOrEqual(100 - 3 - 5);
  });

  it("take their images from the targets of the Dockerfile, all of one version", () => {
    const images = [...servicePods, ...migrationPods].flatMap(({ containers }) => containers[0]?.image ?? []);
    const version = images[0]?.split(":").at(-1);
    const names = ["petstore-graphql", "petstore-rest", "petstore"];
    expect(images.map((image) => image.split("/").at(-1))).toEqual(names.map((name) => `${name}:${version}`));
  });

  describe("have network policies that", () => {
    const policies = overlay.filter(NetworkPolicy.is).map(({ spec }) => spec);
    const egress = policies.flatMap((spec) => spec?.egress ?? []);
    /** The addresses of PostgreSQL and Redis. */
    const ranges = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.cidr.split("/") ?? []));
    const [databaseRange, databasePrefix, redisRange, redisPrefix] = ranges;

    it("deny everything that they do not allow, in both directions, to every pod of the namespace", () => {
      const [denial, ...allowances] = policies;
      expect(denial).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
      for (const spec of allowances) expect(spec?.podSelector).toEqual({ matchLabels: partOfPetstore });
    });

    it("let the ingress controller alone reach the APIs, and name a sender in every rule", () => {
      const podSelector = { matchLabels: { "app.kubernetes.io/name": "ingress-nginx" } };
      const rules = policies
        .flatMap((spec) => spec?.ingress ?? [])
        .map(({ from, ports = [] }) => [ports.map(({ port }) => port), from]);
      expect(rules).toEqual([
        [["http"], [{ ...isNamed("ingress-nginx"), podSelector }]],
        [["metrics"], [isNamed("monitoring")]],
      ]);
    });

    it("let a pod reach name servers, PostgreSQL, Redis and the collector of traces, and nothing else", () => {
      const portOf = (name: string) => Number(new URL(addresses[name] ?? "").port);
      const ports = egress.flatMap((rule) => rule.ports?.map(({ port }) => port));
      expect(ports).toEqual([53, 53, 4318, portOf("database-url"), portOf("redis-url")]);
      for (const { to } of egress) expect(to).toHaveLength(1);
      // 0.0.0.0/0 would be everything.
      for (const prefix of [databasePrefix, redisPrefix]) expect(Number(prefix)).toBeGreaterThanOrEqual(24);
    });

    it("leave the range of trusted proxies to one subnet, in which neither PostgreSQL nor Redis is", () => {
      const [network = "", prefix] = settings.TRUST_PROXY?.split("/") ?? [];
      expect(Number(prefix)).toBeGreaterThanOrEqual(24);
      const trusted = new BlockList();
      trusted.addSubnet(network, Number(prefix));
      for (const range of [databaseRange, redisRange]) expect(trusted.check(range ?? "")).toBe(false);
    });

    it("let the pods of petstore, the stores themselves and the operator reach the stores, and no others", async () => {
      const policies = (await readManifests("stores")).filter(NetworkPolicy.is).map(({ spec }) => spec);
      expect(policies).toContainEqual({ podSelector: {}, policyTypes: ["Ingress"] });
      const rules = policies.flatMap((spec) => spec?.ingress?.map((rule) => ({ ...rule, to: spec.podSelector })) ?? []);
      expect(rules.map(({ to, from, ports }) => ({ to, from, ports: ports?.map(({ port }) => port) }))).toEqual([
        { to: { matchLabels: { "cnpg.io/cluster": "postgres" } }, from: [isNamed("cnpg-system")], ports: [5432, 8000] },
        { to: {}, from: [isNamed("petstore")], ports: [5432, 6379, 26379] },
        { to: {}, from: [{ podSelector: {} }], ports: undefined },
      ]);
    });
  });
});

describe("the stores", () => {
  const read = async (name: string) =>
    parse(await readFile(new URL(`../kubernetes/stores/${name}`, import.meta.url), "utf8"));

  it("have a Valkey that keeps counters, under the name of REDIS_URL", async () => {
    expect(await read("valkey-values.yaml")).toMatchObject({
      extraConfig: expect.stringContaining("maxmemory-policy noeviction"),
      persistence: { enabled: true },
      replica: { enabled: true, replicas: 3, minReplicasToWrite: 1 },
      sentinel: { enabled: true, replicas: 3, quorum: 2, masterSet: "petstore" },
    });
  });

  describeWithProgram("postgres", "have a PostgreSQL", () => {
    it("of three instances, of which two have each commit, with the rights of roles.sql", {
      timeout: 120_000,
    }, async () => {
      const { spec } = await read("postgres.yaml");
      expect(spec).toMatchObject({
        instances: 3,
        postgresql: { synchronous: { number: 1, dataDurability: "required" } },
      });
      await using server = await openInstalledPostgres();
      const urlOf = (username: string) => Object.assign(new URL(server.url), { pathname: "petstore", username }).href;
      // The operator creates the database and its owner, runs the statements, and then lets the other role log in.
      await query(server.url, "create role petstore login");
      await query(server.url, "create database petstore owner petstore");
      for (const statement of spec.bootstrap.initdb.postInitApplicationSQL) await query(urlOf("postgres"), statement);
      await query(server.url, "alter role petstore_service login");
      await petstore(urlOf("petstore"), "migrate");
      expect(await issueKey(urlOf("petstore_service"))).toMatch(/^pets_live_/);
      expect(await petstore(urlOf("petstore_service"), "doctor")).toMatch(
        /^ok +database role: petstore_service reads/m,
      );
    });
  });
});

function valuesOf({ data = {} }: ISecret): Record<string, string> {
  const decoded = Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]);
  return Object.fromEntries(decoded);
}
