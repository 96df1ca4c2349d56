/**
 * The OpenAPI document, openapi.yaml. The build writes it to dist as JSON and as YAML, with an empty list of servers. The
 * service fills the list, because the addresses are settings.
 */
import { readFileSync } from "node:fs";
import { type HttpConfig, isLoopback } from "@petstore/core";

/** The addresses of the production and staging environments, for `servers`. */
type Environments = Pick<HttpConfig, "publicUrl" | "stagingUrl">;

export function openApiJson(environments: Environments): string {
  const list = JSON.stringify(servers(environments), undefined, 2).replaceAll("\n", "\n  ");
  return readFile("openapi.json").replace(/^ {2}"servers": \[\]/m, () => `  "servers": ${list}`);
}

export function openApiYaml(environments: Environments): string {
  // JSON is valid YAML.
  const list = JSON.stringify(servers(environments));
  return readFile("openapi.yaml").replace(/^servers: \[\]$/m, () => `servers: ${list}`);
}

function readFile(name: string): string {
  return readFileSync(new URL(`../dist/${name}`, import.meta.url), "utf8");
}

function servers({ publicUrl, stagingUrl }: Environments): { readonly url: string; readonly description: string }[] {
  const staging = { url: `${stagingUrl}/v1`, description: "Staging" };
  // In the staging environment both addresses are the same, and must not be called production.
  if (stagingUrl !== undefined && stagingUrl === publicUrl) return [staging];
  const isPublic = publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
  const production = { url: `${publicUrl ?? ""}/v1`, description: isPublic ? "Production" : "This service" };
  return stagingUrl === undefined ? [production] : [production, staging];
}
