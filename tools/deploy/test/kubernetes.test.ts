import { readFile } from "node:fs/promises";
import { BlockList } from "node:net";
import { describeWithProgram } from "@petstore/harness";
import { beforeAll, expect, it } from "vitest";
import { faultsOf, type Manifest, renderManifests } from "./manifests.js";

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly secret: { readonly secretName: string } }[];
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string }[];
  readonly readinessProbe: { readonly periodSeconds: number; readonly failureThreshold: number };
  readonly resources: { readonly limits: { readonly memory?: string } };
}

interface Rule {
  readonly ports: readonly { readonly port: string | number }[];
  readonly from?: readonly object[];
  readonly to?: readonly { readonly ipBlock?: { readonly cidr: string } }[];
}

let manifests: readonly Manifest[] = [];
const readOverlay = async () => {
  manifests = await renderManifests();
};

describeWithProgram("kubectl", "the Kubernetes manifests", () => {
  beforeAll(readOverlay);

  it("are what the API server takes, to the last field", () => {
    // kustomize generates the secrets, in base64 with line breaks. The Prometheus Operator defines ServiceMonitor.
    const found = manifests.filter(({ kind }) => kind !== "Secret" && kind !== "ServiceMonitor");
    expect(found.length).toBeGreaterThan(10);
    expect(found.flatMap(faultsOf)).toEqual([]);
  });

  it("a misspelt field is found", () => {
    const [deployment] = ofKind("Deployment");
    const text = JSON.stringify(deployment?.document).replace('"livenessProbe":', '"livenesProbe":');
    const faults = ["/spec/template/spec/containers/0/livenesProbe is not a field"];
    expect(faultsOf({ apiVersion: "apps/v1", kind: "Deployment", document: JSON.parse(text) })).toEqual(faults);
  });

  it("run nothing as root, nothing that may write to its own file system or gain rights", () => {
    for (const pod of pods()) {
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      for (const container of pod.containers) {
        expect(container).toMatchObject({
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: { limits: { memory: expect.any(String) } },
        });
      }
    }
  });

  it("give a pod that stops the time to be noticed and to drain, and some", () => {
    const graceMs = Number(settings().SHUTDOWN_GRACE_MS);
    for (const { containers, terminationGracePeriodSeconds } of pods("Deployment")) {
      // Clients do not reach the metrics port.
      expect(containers).toMatchObject([{ readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } } }]);
      const { periodSeconds = 0, failureThreshold = 0 } = containers[0]?.readinessProbe ?? {};
      expect(graceMs).toBeGreaterThanOrEqual((periodSeconds * failureThreshold + 1) * 1_000);
      expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(graceMs + 10_000);
    }
  });

  it("keep secrets in files, and let the migrations alone have the role that changes tables", () => {
    const keys = Object.keys(secrets());
    for (const [name, value] of Object.entries(settings())) {
      expect(value).not.toMatch(/^(postgres|rediss?):/);
      if (name.endsWith("_FILE")) expect(keys).toContain(value.split("/").at(-1));
    }
    expect(JSON.stringify(pods())).not.toMatch(/secretKeyRef|secretRef/);
    const secretsOf = (kind: string) =>
      pods(kind).flatMap(({ volumes }) => volumes.map((one) => one.secret.secretName));
    const [service = "", owner = ""] = ofKind("Secret").map(({ metadata }) => metadata.name);
    expect([service, owner]).toEqual([
      expect.stringMatching(/^petstore-\w+$/),
      expect.stringMatching(/^petstore-owner-/),
    ]);
    expect(secretsOf("Deployment")).toEqual([service, service]);
    expect(secretsOf("Job")).toEqual([owner]);
  });

  it("set only variables that the services read", async () => {
    const documented = await readFile(new URL("../../../packages/core/.env.example", import.meta.url), "utf8");
    for (const name of Object.keys(settings())) expect(documented).toContain(`${name.replace(/_FILE$/, "")}=`);
  });

  it("lets Prometheus scrape both APIs, with the job that the alerts expect", () => {
    const [monitor] = ofKind("ServiceMonitor").map(({ document }) => (document as { spec: Monitor }).spec);
    const selected = Object.entries(monitor?.selector.matchLabels ?? {});
    const services = ofKind("Service").map(({ metadata }) => metadata);
    expect(services.map(({ name }) => name)).toEqual(["graphql", "rest"]);
    for (const { labels = {} } of services) {
      for (const [name, value] of selected) expect(labels[name]).toBe(value);
      expect(labels[monitor?.jobLabel ?? ""]).toBe("petstore");
    }
    for (const { containers } of pods("Deployment")) {
      const ports = (containers[0]?.ports ?? []).map(({ name }) => name);
      expect(monitor?.endpoints.map(({ targetPort }) => targetPort)).toEqual(
        ports.filter((name) => name === "metrics"),
      );
    }
  });

  it("reach PostgreSQL and Redis over TLS, each with a password", () => {
    const addresses = ofKind("Secret").flatMap((secret) => Object.values(valuesOf(secret)));
    expect(addresses).toHaveLength(3);
    for (const address of addresses) {
      const { protocol, password, searchParams } = new URL(address);
      expect(password).not.toBe("");
      if (protocol === "postgres:") expect(searchParams.get("sslmode")).toBe("verify-full");
      else expect(protocol).toBe("rediss:");
    }
  });

  it("end TLS at the ingress, for every host, and redirect to it", () => {
    const { host } = new URL(settings().PUBLIC_URL ?? "");
    expect(ofKind("Ingress")).toMatchObject([
      {
        metadata: { annotations: { "nginx.ingress.kubernetes.io/force-ssl-redirect": "true" } },
        document: { spec: { rules: [{ host }], tls: [{ hosts: [host] }] } },
      },
    ]);
  });

  it("scale and disturb every deployment within bounds that the database and the quota know of", () => {
    const scalers = ofKind("HorizontalPodAutoscaler").map(({ document }) => document as { spec: Autoscaling });
    const deployments = ofKind("Deployment").map(({ metadata }) => metadata.name);
    expect(scalers.map(({ spec }) => spec.scaleTargetRef.name)).toEqual(deployments);
    expect(ofKind("PodDisruptionBudget").map(({ metadata }) => metadata.name)).toEqual(deployments);
    const most = scalers.reduce((sum, { spec }) => sum + spec.maxReplicas, 0);
    expect(Number(settings().QUOTA_INSTANCES)).toBe(most);
    const whileRolling = most + deployments.length;
    const connections = whileRolling * (Number(settings().DATABASE_POOL_SIZE) + 2);
    // PostgreSQL allows 100 by default. It keeps 3 for its superuser, and the petstore command needs some.
    expect(connections).toBeLessThanOrEqual(100 - 3 - 5);
  });

  it("take their images from the targets of the Dockerfile, all of one version", () => {
    const images = pods().flatMap(({ containers }) => containers.map(({ image }) => image.split("/").at(-1)));
    const version = images[0]?.split(":")[1];
    const names = ["petstore-graphql", "petstore-rest", "petstore"];
    expect(images).toEqual(names.map((name) => `${name}:${version}`));
  });
});

describeWithProgram("kubectl", "the network policies", () => {
  beforeAll(readOverlay);

  it("deny everything that they do not allow, in both directions, to every pod of the namespace", () => {
    const [denial, ...allowances] = ofKind("NetworkPolicy");
    expect(denial?.document).toMatchObject({ spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] } });
    const podSelector = { matchLabels: { "app.kubernetes.io/part-of": "petstore" } };
    for (const { document } of allowances) expect(document).toMatchObject({ spec: { podSelector } });
  });

  it("let the ingress controller alone reach the APIs, and name a sender in every rule", () => {
    const controller = {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress-nginx" } },
      podSelector: { matchLabels: { "app.kubernetes.io/name": "ingress-nginx" } },
    };
    const rules = allowed("ingress");
    expect(rules.filter(({ ports }) => ports[0]?.port === "http").map(({ from }) => from)).toEqual([[controller]]);
    for (const { from = [] } of rules) expect(from).not.toEqual([]);
  });

  it("let a pod reach name servers, PostgreSQL, Redis and the collector of traces, and nothing else", () => {
    const ports = allowed("egress").flatMap((rule) => rule.ports.map(({ port }) => port));
    const portOf = (name: string) => Number(new URL(secrets()[name] ?? "").port);
    expect(ports).toEqual([53, 53, 4318, portOf("database-url"), portOf("redis-url")]);
    for (const { to = [] } of allowed("egress")) expect(to).not.toEqual([]);
    // Addresses, not a whole network: 0.0.0.0/0 would be everything.
    for (const cidr of storeRanges()) expect(prefixOf(cidr)).toBeGreaterThanOrEqual(24);
  });

  it("leave the range of trusted proxies to one subnet, in which neither PostgreSQL nor Redis is", () => {
    const range = settings().TRUST_PROXY ?? "";
    expect(prefixOf(range)).toBeGreaterThanOrEqual(24);
    const trusted = new BlockList();
    trusted.addSubnet(range.split("/")[0] ?? "", prefixOf(range));
    expect(storeRanges()).toHaveLength(2);
    for (const cidr of storeRanges()) expect(trusted.check(cidr.split("/")[0] ?? "")).toBe(false);
  });
});

interface Monitor {
  readonly jobLabel: string;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly endpoints: readonly { readonly targetPort: string }[];
}

interface Autoscaling {
  readonly maxReplicas: number;
  readonly scaleTargetRef: { readonly name: string };
}

function ofKind(wanted: string): Manifest[] {
  return manifests.filter(({ kind }) => kind === wanted);
}

function pods(...kinds: readonly string[]): Pod[] {
  const found = (kinds.length === 0 ? ["Deployment", "Job"] : kinds).flatMap(ofKind);
  return found.map(({ document }) => (document as { spec: { template: { spec: Pod } } }).spec.template.spec);
}

/** The rules of all policies. */
function allowed(direction: "ingress" | "egress"): readonly Rule[] {
  return ofKind("NetworkPolicy").flatMap(({ document }) => {
    return (document as { spec: Partial<Record<typeof direction, readonly Rule[]>> }).spec[direction] ?? [];
  });
}

/** The ranges of PostgreSQL and Redis. */
function storeRanges(): string[] {
  return allowed("egress").flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
}

/** The addresses for the services. */
function secrets(): Record<string, string> {
  const secret = ofKind("Secret")[0];
  return secret === undefined ? {} : valuesOf(secret);
}

function valuesOf({ document }: Manifest): Record<string, string> {
  const encoded = Object.entries(fieldOf(document, "data"));
  return Object.fromEntries(encoded.map(([name, value]) => [name, Buffer.from(value, "base64").toString()]));
}

function settings(): Record<string, string> {
  return fieldOf(ofKind("ConfigMap")[0]?.document, "data");
}

function fieldOf(document: unknown, name: string): Record<string, string> {
  return (document as Record<string, Record<string, string>>)[name] ?? {};
}

function prefixOf(cidr: string): number {
  return Number(cidr.split("/")[1]);
}
