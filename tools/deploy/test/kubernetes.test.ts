// The manifests as kustomize makes them. There is no cluster here: neither the schema of CloudNativePG's Cluster nor the
// values of Valkey's chart are checked.
import { join } from "node:path";
import { Gateway, HTTPRoute } from "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1";
import { describeWithProgram } from "@petstore/harness";
import { openInstalledPostgres, query } from "@petstore/harness/postgres";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Job } from "kubernetes-models/batch/v1";
import { Ingress, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, type ISecret, Namespace, Secret, Service } from "kubernetes-models/v1";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { folder, petstore, read, run } from "./commands.js";

const models = [
  ConfigMap,
  Deployment,
  Gateway,
  HorizontalPodAutoscaler,
  HTTPRoute,
  Ingress,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
];

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

const partOfPetstore = { "app.kubernetes.io/part-of": "petstore" };
const isNamed = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } });

describeWithProgram("kubectl", "the Kubernetes manifests", async () => {
  const folders = ["overlay", "ingress", "ha", "stores"];
  const [overlay = [], withIngress = [], ha = [], stores = []] = await Promise.all(folders.map(readManifests));
  const deployments = overlay.filter(Deployment.is);
  const servicePods = deployments.flatMap(({ spec }) => spec?.template.spec ?? []);
  const migrationPods = overlay.filter(Job.is).flatMap(({ spec }) => spec?.template.spec ?? []);
  const [settings = {}] = overlay.filter(ConfigMap.is).map(({ data = {} }) => data);
  const secrets = overlay.filter(Secret.is);
  const [addresses = {}] = secrets.map(valuesOf);

  it("are what the API server takes, to the last field", () => {
    // kustomize generates the secrets, in base64 with line breaks. Operators define the three other kinds.
    const unchecked = ["Secret", "ServiceMonitor", "Cluster", "BackendTrafficPolicy"];
    const found = [...overlay, ...withIngress, ...ha, ...stores].filter(({ kind }) => !unchecked.includes(kind));
    expect(found.flatMap(unknownFields)).toEqual([]);
  });

  it("run nothing as root, and nothing that may write to its own file system or gain rights", () => {
    const securityContext = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    };
    for (const pod of [...servicePods, ...migrationPods]) {
      expect(pod).toMatchObject({
        securityContext: { runAsNonRoot: true, fsGroup: 65532 },
        containers: [{ securityContext }],
      });
    }
  });

  it("give a pod that stops the time to be noticed and to drain, and some", () => {
    const graceMs = Number(settings.SHUTDOWN_GRACE_MS);
    for (const { containers, terminationGracePeriodSeconds = 0 } of servicePods) {
      // Clients do not reach the metrics port.
      const ports = [{ name: "http" }, { name: "metrics" }];
      expect(containers).toMatchObject([{ ports, readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } } }]);
      const { periodSeconds = 0, failureThreshold = 0 } = containers[0]?.readinessProbe ?? {};
      expect(graceMs).toBeGreaterThanOrEqual((periodSeconds * failureThreshold + 1) * 1_000);
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(graceMs + 10_000);
    }
  });

  it("keep secrets in files, and let the migrations alone have the role that changes tables", () => {
    expect(settings).toMatchObject({
      DATABASE_URL_FILE: "/run/secrets/petstore/database-url",
      REDIS_URL_FILE: "/run/secrets/petstore/redis-url",
    });
    expect(JSON.stringify(overlay)).not.toMatch(/secretKeyRef|secretRef/);
    const secretsOf = (pods: typeof servicePods) =>
      pods.flatMap(({ volumes = [] }) => volumes.map(({ secret }) => secret?.secretName));
    const [service, owner] = secrets.map(({ metadata }) => metadata?.name);
    expect(owner).toMatch(/^petstore-owner-/);
    expect(secretsOf(servicePods)).toEqual([service, service]);
    expect(secretsOf(migrationPods)).toEqual([owner]);
  });

  it("let Prometheus scrape both APIs, with the job that the alerts expect", () => {
    const spec = { jobLabel: "app.kubernetes.io/part-of", selector: { matchLabels: partOfPetstore } };
    expect(overlay.find(({ kind }) => kind === "ServiceMonitor")).toMatchObject({
      spec: { ...spec, endpoints: [{ targetPort: "metrics" }] },
    });
    const labels = overlay.filter(Service.is).map(({ metadata }) => metadata?.labels);
    expect(labels).toMatchObject([partOfPetstore, partOfPetstore]);
  });

  it("reach PostgreSQL and Redis over TLS, with a password", () => {
    for (const manifests of [overlay, ha]) {
      const values = manifests.filter(Secret.is).flatMap((secret) => Object.values(valuesOf(secret)));
      const addresses = values.filter((text) => text.includes("://"));
      expect(addresses).toHaveLength(3);
      for (const address of addresses) expect(address).toMatch(/^(postgres:.*:.+@.*sslmode=verify-full$|rediss.*:.+@)/);
    }
  });

  it("end TLS at the gateway, which only redirects what is not encrypted, and asks browsers for nothing but HTTPS", () => {
    const { host: hostname } = new URL(settings.PUBLIC_URL ?? "");
    const certificateRefs = [{ name: "petstore-tls" }];
    const [gateway] = overlay.filter(Gateway.is);
    expect(gateway?.spec?.listeners).toMatchObject([
      { name: "https", hostname, port: 443, protocol: "HTTPS", tls: { mode: "Terminate", certificateRefs } },
      { name: "http", hostname, port: 80, protocol: "HTTP" },
    ]);
    const routes = overlay.filter(HTTPRoute.is);
    for (const { spec } of routes) expect(spec?.hostnames).toEqual([hostname]);
    const rulesOf = (listener: string) =>
      routes.flatMap(({ spec }) => (spec?.parentRefs?.[0]?.sectionName === listener ? (spec.rules ?? []) : []));
    const set = [{ name: "Strict-Transport-Security", value: "max-age=31536000" }];
    expect(rulesOf("https").length).toBeGreaterThan(0);
    for (const { filters } of rulesOf("https")) expect(filters).toMatchObject([{ responseHeaderModifier: { set } }]);
    const requestRedirect = { scheme: "https", statusCode: 301 };
    expect(rulesOf("http")).toMatchObject([{ filters: [{ requestRedirect }] }]);
    expect(rulesOf("http")[0]?.backendRefs ?? []).toEqual([]);
  });

  it("end TLS at the ingress of the overlay that has one in place of the gateway", () => {
    const { host } = new URL(settings.PUBLIC_URL ?? "");
    const annotations = { "haproxy.org/ssl-redirect": "true" };
    expect(withIngress.filter(Ingress.is)).toMatchObject([
      { metadata: { annotations }, spec: { rules: [{ host }], tls: [{ hosts: [host] }] } },
    ]);
    expect(withIngress.filter(({ apiVersion }) => apiVersion.startsWith("gateway."))).toEqual([]);
    const changed = ["Gateway", "HTTPRoute", "BackendTrafficPolicy", "Ingress", "NetworkPolicy"];
    const isOther = ({ kind }: Manifest) => !changed.includes(kind);
    expect(withIngress.filter(isOther)).toEqual(overlay.filter(isOther));
  });

  it("send the requests of an API key to one pod, through the gateway and through the ingress", () => {
    const [route] = overlay
      .filter(HTTPRoute.is)
      .filter(({ spec }) => spec?.rules?.some(({ backendRefs }) => backendRefs));
    expect(overlay.find(({ kind }) => kind === "BackendTrafficPolicy")).toMatchObject({
      spec: {
        targetRefs: [{ kind: "HTTPRoute", name: route?.metadata?.name }],
        loadBalancer: {
          type: "ConsistentHash",
          consistentHash: { type: "Header", header: { name: "Authorization" } },
        },
      },
    });
    const [ingress] = withIngress.filter(Ingress.is);
    expect(ingress?.metadata?.annotations).toMatchObject({
      "haproxy.org/load-balance": "hdr(Authorization)",
      "haproxy.org/backend-config-snippet": "hash-type consistent\nhash-balance-factor 150\n",
    });
  });

  it("scale every deployment within bounds that the database and the quota know of", () => {
    const names = deployments.map(({ metadata }) => metadata?.name);
    const scalers = overlay.filter(HorizontalPodAutoscaler.is);
    expect(scalers.map(({ spec }) => spec?.scaleTargetRef.name)).toEqual(names);
    const most = scalers.reduce((sum, { spec }) => sum + (spec?.maxReplicas ?? 0), 0);
    expect(Number(settings.QUOTA_INSTANCES)).toBe(most);
    const whileRolling = most + deployments.length;
    const connections = whileRolling * (Number(settings.DATABASE_POOL_SIZE) + 2);
    // PostgreSQL allows 100 by default. It keeps 3 for its superuser, and the petstore command needs some.
    expect(connections).toBeLessThanOrEqual(100 - 3 - 5);
  });

  it("have network policies that allow the connections of the services alone", () => {
    const [denial, ...allowances] = overlay.filter(NetworkPolicy.is).map(({ spec }) => spec);
    expect(denial).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
    for (const spec of allowances) expect(spec?.podSelector).toEqual({ matchLabels: partOfPetstore });
    const ownedBy = "gateway.envoyproxy.io/owning-gateway";
    const proxy = { matchLabels: { [`${ownedBy}-namespace`]: "petstore", [`${ownedBy}-name`]: "petstore" } };
    const controller = { matchLabels: { "app.kubernetes.io/name": "kubernetes-ingress" } };
    for (const [manifests, namespace, podSelector] of [
      [overlay, "envoy-gateway-system", proxy],
      [withIngress, "haproxy-controller", controller],
    ] as const) {
      const ingress = manifests.filter(NetworkPolicy.is).flatMap(({ spec }) => spec?.ingress ?? []);
      expect(ingress.map(({ from, ports }) => [portsOf(ports), from])).toEqual([
        [["http"], [{ ...isNamed(namespace), podSelector }]],
        [["metrics"], [isNamed("monitoring")]],
      ]);
    }
    const egress = allowances.flatMap((spec) => spec?.egress ?? []);
    // 0.0.0.0/0 would be everything.
    const range = { ipBlock: { cidr: expect.stringMatching(/\/24$/) } };
    const portOf = (name: string) => Number(new URL(addresses[name] ?? "").port);
    expect(egress.map(({ to, ports }) => [portsOf(ports), to])).toEqual([
      [[53, 53], [{ ...isNamed("kube-system"), podSelector: { matchLabels: { "k8s-app": "kube-dns" } } }]],
      [[4318], [isNamed("monitoring")]],
      [[portOf("database-url")], [range]],
      [[portOf("redis-url")], [range]],
    ]);
    // Each address in this range may name the address of a client.
    expect(settings.TRUST_PROXY).toMatch(/\/24$/);
  });

  it("let the pods of petstore, the stores themselves and the operator reach the stores, and no others", () => {
    const policies = stores.filter(NetworkPolicy.is).map(({ spec }) => spec);
    for (const spec of policies) expect(spec?.policyTypes).toEqual(["Ingress"]);
    const rules = policies.flatMap((spec) => spec?.ingress?.map((rule) => ({ ...rule, to: spec.podSelector })) ?? []);
    expect(rules.map(({ to, from, ports }) => [to, portsOf(ports), from])).toEqual([
      [{ matchLabels: { "cnpg.io/cluster": "postgres" } }, [5432, 8000], [isNamed("cnpg-system")]],
      [{}, [5432, 6379, 26379], [isNamed("petstore")]],
      [{}, [], [{ podSelector: {} }]],
    ]);
  });
});

it("the stores evict no counter, and acknowledge a write only with a replica", async () => {
  const replica = { enabled: true, replicas: 3, minReplicasToWrite: 1 };
  const sentinel = { enabled: true, replicas: 3, quorum: 2, masterSet: "petstore" };
  const extraConfig = expect.stringContaining("maxmemory-policy noeviction");
  expect(await readStore("valkey-values.yaml")).toMatchObject({ extraConfig, replica, sentinel });
  const synchronous = { number: 1, dataDurability: "required" };
  expect(await readStore("postgres.yaml")).toMatchObject({ spec: { instances: 3, postgresql: { synchronous } } });
});

describeWithProgram("postgres", "the PostgreSQL of the stores", () => {
  it("gives the services the rights of roles.sql", { timeout: 120_000 }, async () => {
    await using server = await openInstalledPostgres();
    const urlOf = (username: string) => Object.assign(new URL(server.url), { pathname: "petstore", username }).href;
    // The operator creates the database and its owner, runs the statements, and then lets the other role log in.
    await query(server.url, "create role petstore login");
    await query(server.url, "create database petstore owner petstore");
    const { spec } = await readStore("postgres.yaml");
    for (const statement of spec.bootstrap.initdb.postInitApplicationSQL) await query(urlOf("postgres"), statement);
    await query(server.url, "alter role petstore_service login");
    await petstore(urlOf("petstore"), "migrate");
    await petstore(urlOf("petstore_service"), "account", "create", "shop");
    expect(await petstore(urlOf("petstore_service"), "doctor")).toMatch(/^ok +database role: petstore_service reads/m);
  });
});

async function readStore(name: string) {
  return parse(await read(`kubernetes/stores/${name}`));
}

function portsOf(ports: readonly { readonly port?: number | string }[] = []) {
  return ports.map(({ port }) => port);
}

function valuesOf({ data = {} }: ISecret): Record<string, string> {
  const decoded = Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]);
  return Object.fromEntries(decoded);
}

/** Needs `kubectl`, which contains kustomize. */
async function readManifests(name: string): Promise<Manifest[]> {
  const { stdout } = await run("kubectl", ["kustomize", join(folder, "kubernetes", name)]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

/** Throws if a value does not match the schema of its kind. Returns the fields that the schema does not know. */
function unknownFields(manifest: Manifest): string[] {
  const model = models.find(({ is }) => is(manifest)) ?? expect.unreachable(`no schema for ${manifest.kind}`);
  const unread = new Set<string>();
  // The models of the Gateway API find their schema through the prototype.
  const typed = Object.assign(Object.create(model.prototype), manifest);
  model.prototype.validate.call(watched(typed, manifest.kind, unread));
  return [...unread];
}

/**
 * Kubernetes' schemas allow fields they do not know, and its API server drops them without a word. A compiled schema
 * reads every field it knows, so what it never reads is a field that does not exist.
 */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const pathOf = (key: string | symbol) => `${path}/${String(key)}`;
  for (const key of Object.keys(value)) unread.add(pathOf(key));
  return new Proxy(value, {
    get(target, key, receiver) {
      unread.delete(pathOf(key));
      return watched(Reflect.get(target, key, receiver), pathOf(key), unread);
    },
  });
}
