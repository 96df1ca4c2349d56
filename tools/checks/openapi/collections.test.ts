// Postman and Bruno import the OpenAPI document as a collection. Each imported request works when it is sent unchanged.

import { openHttpClient } from "@petstore/harness/network";
import { openApiToBruno } from "@usebruno/converters";
import postman from "openapi-to-postmanv2";
import { expect, it } from "vitest";
import { openRunningStore } from "../conformance/running-store.js";

/** A request of a collection, without the parameters and headers that are switched off. */
interface ImportedRequest {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const publicUrl = "https://petstore.example";
const statuses = { "List pets": 200, "Add a pet": 201, "Get a pet": 200 };

it.each([
  ["Postman, with the examples and without optional parameters", importToPostman],
  ["Bruno", importToBruno],
])("%s: every imported request succeeds, also a second time", async (_tool, importDocument) => {
  await using store = await openRunningStore({ services: ["rest"], environment: { PUBLIC_URL: publicUrl } });
  using client = openHttpClient(store.originOf("rest"));
  const requests = await importDocument((await client.send("GET", "/openapi.json")).text);
  expect(requests.map(({ name }) => name)).toEqual(Object.keys(statuses));
  const { key } = await store.database.issueKey();
  // The list first, as a new user does, and then everything again.
  for (const request of [...requests, ...requests]) {
    expect(request.url.startsWith(`${publicUrl}/v1/`), request.url).toBe(true);
    const { status, text } = await client.send(request.method, request.url.slice(publicUrl.length), {
      key,
      headers: request.headers,
      ...(request.body !== undefined && { body: request.body }),
    });
    expect(status, `${request.name}: ${text}`).toBe(statuses[request.name as keyof typeof statuses]);
  }
});

interface PostmanItem {
  readonly name: string;
  readonly item?: readonly PostmanItem[];
  readonly request?: {
    readonly method: string;
    readonly url: {
      readonly path: readonly string[];
      readonly query: readonly Field[];
      readonly variable: readonly Field[];
    };
    readonly header: readonly Field[];
    readonly body?: { readonly raw: string };
  };
}

interface Field {
  readonly key?: string;
  readonly name?: string;
  readonly value: string;
  readonly disabled?: boolean;
  readonly enabled?: boolean;
  readonly type?: string;
}

async function importToPostman(data: string): Promise<ImportedRequest[]> {
  const options = { parametersResolution: "Example", enableOptionalParameters: false } as const;
  const converted = await new Promise<unknown>((resolve, reject) => {
    postman.convertV2({ type: "string", data }, options, (error, result) => (error ? reject(error) : resolve(result)));
  });
  const [{ data: collection }] = (converted as { output: [{ data: PostmanItem & { variable: readonly Field[] } }] })
    .output;
  const [baseUrl] = collection.variable;
  return requestsOf(collection).map(({ name, request }) => {
    const { path, query, variable } = request.url;
    const names = new Map(variable.map(({ key, value }) => [`:${key}`, value]));
    const pathname = path.map((part) => names.get(part) ?? part).join("/");
    const headers = fieldsOf(request.header);
    return {
      name,
      method: request.method,
      url: `${baseUrl?.value}/${pathname}?${new URLSearchParams(fieldsOf(query))}`,
      headers,
      body: request.body?.raw,
    };
  });
}

function requestsOf(node: PostmanItem): (PostmanItem & Required<Pick<PostmanItem, "request">>)[] {
  const { request } = node;
  return request === undefined ? (node.item ?? []).flatMap(requestsOf) : [{ ...node, request }];
}

interface BrunoItem {
  readonly name: string;
  readonly items?: readonly BrunoItem[];
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly Field[];
    readonly params: readonly Field[];
    readonly body: { readonly json: string | null };
  };
}

interface BrunoCollection extends BrunoItem {
  readonly environments: readonly { readonly variables: readonly Field[] }[];
}

async function importToBruno(data: string): Promise<ImportedRequest[]> {
  const collection = openApiToBruno(JSON.parse(data)) as BrunoCollection;
  const baseUrl = collection.environments[0]?.variables.find(({ name }) => name === "baseUrl")?.value ?? "";
  const leaves = (node: BrunoItem): readonly BrunoItem[] => node.items?.flatMap(leaves) ?? [node];
  return leaves(collection).flatMap(({ name, request }) => {
    if (request === undefined) return [];
    const { method, url, headers, params, body } = request;
    const inPath = params.filter(({ type }) => type === "path");
    const query = new URLSearchParams(fieldsOf(params.filter(({ type }) => type === "query")));
    const path = inPath.reduce((text, one) => text.replace(`:${one.name}`, one.value), url.split("?")[0] ?? "");
    return [
      {
        name,
        method,
        url: `${path.replace("{{baseUrl}}", baseUrl)}?${query}`,
        headers: fieldsOf(headers),
        body: body.json ?? undefined,
      },
    ];
  });
}

function fieldsOf(fields: readonly Field[]): Record<string, string> {
  const active = fields.filter(({ disabled, enabled }) => disabled !== true && enabled !== false);
  return Object.fromEntries(active.map(({ key, name, value }) => [key ?? name ?? "", value]));
}
