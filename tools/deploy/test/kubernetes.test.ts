import { BlockList } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { faultsOf, type Manifest, readManifests } from "./manifests.js";

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly secret: { readonly secretName: string } }[];
}

interface Container {
  readonly image: string;
  readonly readinessProbe: { readonly periodSeconds: number; readonly failureThreshold: number };
  readonly resources: { readonly limits: { readonly memory?: string } };
}

interface Rule {
  readonly ports: readonly { readonly port: string | number }[];
  readonly from?: readonly object[];
  readonly to?: readonly { readonly ipBlock?: { readonly cidr: string } }[];
}

let manifests: readonly Manifest[] = [];

beforeAll(async () => {
  manifests = await readManifests();
});

describe("the Kubernetes manifests", () => {
  it("are what the API server takes, to the last field", () => {
    expect(manifests.length).toBeGreaterThan(10);
    expect(manifests.map(({ file, ...manifest }) => ({ file, faults: faultsOf(manifest) }))).toEqual(
      manifests.map(({ file }) => ({ file, faults: [] })),
    );
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
    expect(secretsOf("Deployment")).toEqual(["petstore", "petstore"]);
    expect(secretsOf("Job")).toEqual(["petstore-owner"]);
    expect(ofKind("Secret").map(({ metadata }) => metadata.name)).toEqual(["petstore", "petstore-owner"]);
  });

  it("reach PostgreSQL and Redis over TLS, each with a password", () => {
    const addresses = ofKind("Secret").flatMap(({ document }) => Object.values(fieldOf(document, "stringData")));
    expect(addresses).toHaveLength(3);
    for (const address of addresses) {
      const { protocol, password, searchParams } = new URL(address);
      expect(password).not.toBe("");
      if (protocol === "postgres:") expect(searchParams.get("sslmode")).toBe("verify-full");
      else expect(protocol).toBe("rediss:");
    }
  });

  it("end TLS at the ingress, for every host, and redirect to it", () => {
    const host = expect.stringMatching(/./);
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

describe("the network policies", () => {
  it("deny everything that they do not allow, in both directions, to every pod of the namespace", () => {
    const [denial, allowance] = ofKind("NetworkPolicy");
    const policyTypes = ["Ingress", "Egress"];
    expect(denial?.document).toMatchObject({ spec: { podSelector: {}, policyTypes } });
    const podSelector = { matchLabels: { "app.kubernetes.io/part-of": "petstore" } };
    expect(allowance?.document).toMatchObject({ spec: { podSelector, policyTypes } });
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
    expect(ports).toEqual([53, 53, portOf("database-url"), portOf("redis-url"), 4318]);
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

/** The rules of the policy that allows. */
function allowed(direction: "ingress" | "egress"): readonly Rule[] {
  const allowance = ofKind("NetworkPolicy")[1]?.document as { spec: Record<typeof direction, readonly Rule[]> };
  return allowance.spec[direction];
}

/** The ranges of PostgreSQL and Redis. */
function storeRanges(): string[] {
  return allowed("egress").flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
}

/** The addresses for the services, which come first in their file. */
function secrets(): Record<string, string> {
  return fieldOf(ofKind("Secret")[0]?.document, "stringData");
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
