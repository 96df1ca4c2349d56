import { beforeAll, describe, expect, it } from "vitest";
import { faultsOf, type Manifest, readManifests } from "./manifests.js";

interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: { readonly runAsNonRoot: boolean };
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly secret?: { readonly secretName: string } }[];
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly securityContext: object;
  readonly resources: { readonly limits: { readonly memory?: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

let manifests: readonly Manifest[] = [];

beforeAll(async () => {
  manifests = await readManifests();
});

describe("the Kubernetes manifests", () => {
  it("are what the API server takes, to the last field", () => {
    expect(manifests.length).toBeGreaterThan(10);
    expect(manifests.map((manifest) => ({ file: manifest.file, faults: faultsOf(manifest) }))).toEqual(
      manifests.map(({ file }) => ({ file, faults: [] })),
    );
  });

  it("a misspelt field, a value of the wrong type and a missing one are each found", () => {
    const [deployment] = ofKind("Deployment");
    const change = (from: RegExp, to: string) => ({
      ...deployment,
      document: JSON.parse(JSON.stringify(deployment?.document).replace(from, to)) as unknown,
    });
    expect(faultsOf(change(/"livenessProbe"/, '"livenesProbe"') as Manifest)).toEqual([
      "/spec/template/spec/containers/0/livenesProbe is not a field",
    ]);
    expect(faultsOf(change(/"maxSurge":1/, '"maxSurge":true') as Manifest)).not.toEqual([]);
    expect(faultsOf(change(/"image":/, '"picture":') as Manifest)).not.toEqual([]);
    expect(faultsOf(change(/"selector":/, '"chooser":') as Manifest)).not.toEqual([]);
  });

  it("live in the namespace they bring along", () => {
    for (const { kind, metadata } of manifests) {
      expect(kind === "Namespace" ? metadata.name : metadata.namespace).toBe("petstore");
    }
  });

  it("run nothing as root, nothing that may write to its own file system or gain rights", () => {
    for (const pod of pods()) {
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      for (const { securityContext, resources } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(resources.limits.memory).toBeDefined();
      }
    }
  });

  it("probe /livez and /readyz on the metrics port, which clients do not reach", () => {
    for (const { document } of ofKind("Deployment")) {
      for (const container of podOf(document).containers) {
        expect(container.livenessProbe?.httpGet).toEqual({ path: "/livez", port: "metrics" });
        expect(container.readinessProbe?.httpGet).toEqual({ path: "/readyz", port: "metrics" });
      }
    }
  });

  it("give a pod that stops the time to be noticed and to drain, and some", () => {
    const graceMs = Number(settings().SHUTDOWN_GRACE_MS);
    for (const { document } of ofKind("Deployment")) {
      const pod = podOf(document);
      const probe = pod.containers[0]?.readinessProbe;
      expect(graceMs).toBeGreaterThanOrEqual(
        ((probe?.periodSeconds ?? 0) * (probe?.failureThreshold ?? 0) + 1) * 1_000,
      );
      expect((pod.terminationGracePeriodSeconds ?? 0) * 1_000).toBeGreaterThanOrEqual(graceMs + 10_000);
    }
  });

  it("keep secrets in files", () => {
    const [secret] = ofKind("Secret");
    const keys = Object.keys((secret?.document as { stringData?: object } | undefined)?.stringData ?? {});
    const names = ofKind("Secret").map(({ metadata }) => metadata.name);
    for (const { volumes } of pods()) expect(names).toContain(volumes[0]?.secret?.secretName);
    for (const [name, value] of Object.entries(settings())) {
      expect(value).not.toMatch(/^(postgres|rediss?):/);
      if (name.endsWith("_FILE")) expect(keys).toContain(value.split("/").at(-1));
    }
    expect(JSON.stringify(pods())).not.toMatch(/secretKeyRef|secretRef/);
  });

  it("let the migrations alone have the role that changes tables", () => {
    const secretsOf = (kind: string) =>
      ofKind(kind).flatMap(({ document }) => podOf(document).volumes.map(({ secret }) => secret?.secretName));
    expect(new Set(secretsOf("Deployment"))).toEqual(new Set(["petstore"]));
    expect(secretsOf("Job")).toEqual(["petstore-owner"]);
  });

  it("reach PostgreSQL and Redis over TLS, each with a password", () => {
    const addresses = ofKind("Secret").flatMap(({ document }) => Object.values((document as SecretData).stringData));
    expect(addresses).toHaveLength(3);
    for (const address of addresses) {
      const { protocol, password, searchParams } = new URL(address);
      expect(password).not.toBe("");
      if (protocol === "postgres:") expect(searchParams.get("sslmode")).toBe("verify-full");
      else expect(protocol).toBe("rediss:");
    }
  });

  it("end TLS at the ingress, for every host, and redirect to it", () => {
    const [ingress] = ofKind("Ingress").map(({ document }) => document as Ingress);
    const hosts = ingress?.spec.rules.map(({ host }) => host) ?? [];
    expect(hosts.length).toBeGreaterThan(0);
    expect(ingress?.spec.tls.flatMap(({ hosts: covered }) => covered)).toEqual(hosts);
    expect(ingress?.metadata.annotations["nginx.ingress.kubernetes.io/force-ssl-redirect"]).toBe("true");
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
    const images = pods().flatMap(({ containers }) => containers.map(({ image }) => image));
    const [names, versions] = [
      images.map((image) => /([^/]+):/.exec(image)?.[1]),
      images.map((i) => i.split(":").at(-1)),
    ];
    expect(names.sort()).toEqual(["petstore", "petstore-graphql", "petstore-rest"]);
    expect(new Set(versions).size).toBe(1);
  });
});

interface SecretData {
  readonly stringData: Readonly<Record<string, string>>;
}

interface Ingress {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly rules: readonly { readonly host: string }[];
    readonly tls: readonly { readonly hosts: readonly string[] }[];
  };
}

interface Autoscaling {
  readonly maxReplicas: number;
  readonly scaleTargetRef: { readonly name: string };
}

function ofKind(wanted: string): Manifest[] {
  return manifests.filter(({ kind }) => kind === wanted);
}

function podOf(document: unknown): Pod {
  return (document as { spec: { template: { spec: Pod } } }).spec.template.spec;
}

function pods(): Pod[] {
  return [...ofKind("Deployment"), ...ofKind("Job")].map(({ document }) => podOf(document));
}

function settings(): Record<string, string> {
  const [map] = ofKind("ConfigMap");
  return (map?.document as { data?: Record<string, string> } | undefined)?.data ?? {};
}
