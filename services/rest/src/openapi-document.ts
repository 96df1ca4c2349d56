/**
 * The OpenAPI document, openapi.yaml. The build writes it to dist as JSON and as YAML, and as JSON of OpenAPI 3.0, with empty
 * lists of servers. The service fills the lists, because the addresses are settings.
 */
import { readFileSync } from "node:fs";
import { type HttpConfig, isLoopback } from "@petstore/core";

/** The addresses of the production and staging environments, for `servers`. */
type Environments = Pick<HttpConfig, "publicUrl" | "stagingUrl">;

interface Server {
  readonly url: string;
  readonly description: string;
}

export function openApiJson(environments: Environments): string {
  return fillJson("openapi.json", environments);
}

/** The same document, for generators that cannot read OpenAPI 3.1. */
export function openApi30Json(environments: Environments): string {
  return fillJson("openapi-3.0.json", environments);
}

export function openApiYaml(environments: Environments): string {
  return readFile("openapi.yaml").replace(/^( *)servers: \[\]$/gm, (_line, indent: string) => {
    // JSON is valid YAML.
    return `${indent}servers: ${JSON.stringify(serversAt(indent.length, 0, environments))}`;
  });
}

function fillJson(name: string, environments: Environments): string {
  return readFile(name).replace(/^( *)"servers": \[\]/gm, (_line, indent: string) => {
    const list = JSON.stringify(serversAt(indent.length, 2, environments), undefined, 2);
    return `${indent}"servers": ${list.replaceAll("\n", `\n${indent}`)}`;
  });
}

/** The servers of the document have the path of the API. An operation with servers of its own, such as getRateLimit, is outside it. */
function serversAt(indent: number, indentOfDocument: number, environments: Environments): readonly Server[] {
  return servers(environments, indent === indentOfDocument ? "/v1" : "");
}

function readFile(name: string): string {
  return readFileSync(new URL(`../dist/${name}`, import.meta.url), "utf8");
}

function servers({ publicUrl, stagingUrl }: Environments, path: "/v1" | ""): readonly Server[] {
  const urlOf = (origin: string) => `${origin}${path}` || "/";
  const staging = { url: urlOf(stagingUrl ?? ""), description: "Staging" };
  // In the staging environment both addresses are the same, and must not be called production.
  if (stagingUrl !== undefined && stagingUrl === publicUrl) return [staging];
  const isPublic = publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
  const production = { url: urlOf(publicUrl ?? ""), description: isPublic ? "Production" : "This service" };
  return stagingUrl === undefined ? [production] : [production, staging];
}
