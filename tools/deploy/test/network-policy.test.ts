import { BlockList } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { type Manifest, readManifests } from "./manifests.js";

interface Policy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

interface Rule {
  readonly ports: readonly { readonly port: string | number; readonly protocol?: string }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

interface Peer {
  readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly podSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly ipBlock?: { readonly cidr: string };
}

let manifests: readonly Manifest[] = [];
let policies: ReadonlyMap<string, Policy> = new Map();

beforeAll(async () => {
  manifests = await readManifests();
  const found = manifests.filter(({ kind }) => kind === "NetworkPolicy");
  policies = new Map(found.map(({ metadata, document }) => [metadata.name, document as Policy]));
});

describe("the network policies", () => {
  it("deny everything that they do not allow, in both directions, to every pod of the namespace", () => {
    expect(policies.get("default-deny")?.spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  });

  it("let the ingress controller alone reach the APIs", () => {
    const rules = store().ingress?.filter(({ ports }) => ports.some(({ port }) => port === "http"));
    const name = "ingress-nginx";
    expect(rules?.map(({ from }) => from)).toEqual([
      [
        {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
          podSelector: { matchLabels: { "app.kubernetes.io/name": name } },
        },
      ],
    ]);
  });

  it("name a sender in every rule, and a receiver", () => {
    for (const { from } of store().ingress ?? []) expect(from?.length).toBeGreaterThan(0);
    for (const { to } of store().egress ?? []) expect(to?.length).toBeGreaterThan(0);
  });

  it("let a pod reach name servers, PostgreSQL, Redis and the collector of traces, and nothing else", () => {
    const ports = (store().egress ?? []).flatMap((rule) => rule.ports.map(({ port }) => port));
    expect(ports).toEqual([53, 53, databasePort(), redisPort(), 4318]);
    // Addresses, not a whole network: 0.0.0.0/0 would be everything.
    for (const { to = [] } of store().egress ?? []) {
      for (const { ipBlock } of to) if (ipBlock) expect(prefixOf(ipBlock.cidr)).toBeGreaterThanOrEqual(24);
    }
  });

  it("leave the range of trusted proxies to one subnet, in which neither PostgreSQL nor Redis is", () => {
    const range = settings().TRUST_PROXY ?? "";
    expect(prefixOf(range)).toBeGreaterThanOrEqual(24);
    const trusted = new BlockList();
    trusted.addSubnet(range.split("/")[0] ?? "", prefixOf(range));
    for (const { to = [] } of store().egress ?? []) {
      for (const { ipBlock } of to) expect(trusted.check(ipBlock?.cidr.split("/")[0] ?? "0.0.0.0")).toBe(false);
    }
  });
});

/** The policy of the pods of the store: services and migrations. */
function store(): Policy["spec"] {
  const spec = policies.get("petstore")?.spec;
  if (spec === undefined) throw new Error("There is no policy called petstore");
  expect(spec.podSelector.matchLabels).toEqual({ "app.kubernetes.io/part-of": "petstore" });
  expect(spec.policyTypes).toEqual(["Ingress", "Egress"]);
  return spec;
}

function databasePort(): number {
  return Number(new URL(secret("database-url")).port);
}

function redisPort(): number {
  return Number(new URL(secret("redis-url")).port);
}

function secret(name: string): string {
  return contentOf("Secret", "stringData")[name] ?? "";
}

function settings(): Readonly<Record<string, string>> {
  return contentOf("ConfigMap", "data");
}

/** The first manifest of a kind comes first in its file. */
function contentOf(wanted: string, field: string): Readonly<Record<string, string>> {
  const found = manifests.find(({ kind }) => kind === wanted);
  if (found === undefined) throw new Error(`There is no ${wanted}`);
  return (found.document as Record<string, Record<string, string>>)[field] ?? {};
}

function prefixOf(cidr: string): number {
  return Number(cidr.split("/")[1]);
}
