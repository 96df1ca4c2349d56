// Postman and Bruno import the OpenAPI document as a collection. Each imported request works when it is sent unchanged.

import { openHttpClient } from "@petstore/harness/network";
import { openApiToBruno, postmanToBruno } from "@usebruno/converters";
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

async function importToPostman(data: string): Promise<ImportedRequest[]> {
  const options = { parametersResolution: "Example", enableOptionalParameters: false } as const;
  const converted = await new Promise<unknown>((resolve, reject) => {
    postman.convertV2({ type: "string", data }, options, (error, result) => (error ? reject(error) : resolve(result)));
  });
  const [{ data: postmanCollection }] = (converted as { output: [{ data: PostmanCollection }] }).output;
  // Bruno imports collections of Postman too, so `requestsOf` reads both.
  const { collection } = await postmanToBruno(postmanCollection);
  return requestsOf(collection as BrunoItem, postmanCollection.variable[0].value);
}

async function importToBruno(data: string): Promise<ImportedRequest[]> {
  const collection = openApiToBruno(JSON.parse(data)) as BrunoCollection;
  const baseUrl = collection.environments[0].variables.find(({ name }) => name === "baseUrl")?.value ?? "";
  return requestsOf(collection, baseUrl);
}

interface PostmanCollection {
  readonly variable: readonly [{ readonly value: string }];
}

interface BrunoCollection extends BrunoItem {
  readonly environments: readonly [{ readonly variables: readonly Field[] }];
}

interface BrunoItem {
  readonly name: string;
  readonly items?: readonly BrunoItem[];
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly Field[];
    readonly params: readonly (Field & { readonly type: string })[];
    readonly body: { readonly json: string | null };
  };
}

interface Field {
  readonly name: string;
  readonly value: string;
  readonly enabled: boolean;
}

function requestsOf({ name, items = [], request }: BrunoItem, baseUrl: string): ImportedRequest[] {
  if (request === undefined) return items.flatMap((item) => requestsOf(item, baseUrl));
  const { method, url, headers, params, body } = request;
  // Bruno writes "http://" before the base URL of a collection of Postman.
  const template = url.replace(/^.*\{\{baseUrl\}\}/, baseUrl).replace(/\?.*/, "");
  const inPath = params.filter(({ type }) => type === "path");
  const query = new URLSearchParams(valuesOf(params.filter(({ type }) => type === "query")));
  const path = inPath.reduce((text, one) => text.replace(`:${one.name}`, one.value), template);
  return [{ name, method, url: `${path}?${query}`, headers: valuesOf(headers), body: body.json ?? undefined }];
}

function valuesOf(fields: readonly Field[]): Record<string, string> {
  return Object.fromEntries(fields.filter(({ enabled }) => enabled).map(({ name, value }) => [name, value]));
}
