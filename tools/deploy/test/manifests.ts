// The manifests that kustomize makes of a folder, and what the API server would say to them.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Job } from "kubernetes-models/batch/v1";
import { Ingress, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Namespace, Service } from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";

const models = [
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
];

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Needs `kubectl`, which contains kustomize. */
export async function readManifests(folder: "overlay" | "ha" | "stores"): Promise<Manifest[]> {
  const path = fileURLToPath(new URL(`../kubernetes/${folder}`, import.meta.url));
  const { stdout } = await promisify(execFile)("kubectl", ["kustomize", path]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

/** Every fault against the schema of its kind, fields the schema does not know included. */
export function faultsOf(manifest: Manifest): string[] {
  const model = models.find(({ is }) => is(manifest));
  if (model === undefined) return [`no schema for ${manifest.apiVersion} ${manifest.kind}`];
  const unread = new Set<string>();
  try {
    model.prototype.validate.call(watched(manifest, "", unread));
  } catch (error) {
    return [error instanceof Error ? error.message : `${error}`];
  }
  return [...unread].map((path) => `${path} is not a field`);
}

/**
 * Kubernetes' schemas allow fields they do not know, and its API server drops them without a word. A compiled schema
 * reads every field it knows, so what it never reads is a field that does not exist.
 */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const children = new Map(Object.keys(value).map((key) => [key, `${path}/${key}`]));
  for (const childPath of children.values()) unread.add(childPath);
  return new Proxy(value, {
    get(target, key, receiver) {
      const child: unknown = Reflect.get(target, key, receiver);
      const childPath = typeof key === "string" ? children.get(key) : undefined;
      if (childPath === undefined) return child;
      unread.delete(childPath);
      return watched(child, childPath, unread);
    },
  });
}
