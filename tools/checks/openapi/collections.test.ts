// Postman and Bruno import the OpenAPI document as a collection. Each imported request works when it is sent unchanged.
import { promisify } from "node:util";
import { shared } from "@petstore/harness";
import { openHttpClient } from "@petstore/harness/network";
import { type BrunoField, type BrunoItem, openApiToBruno, postmanToBruno } from "@usebruno/converters";
import postman from "openapi-to-postmanv2";
import { expect, it } from "vitest";
import { openRunningStore } from "../conformance/running-store.js";

const publicUrl = "https://petstore.example";
const statuses: Readonly<Record<string, number>> = {
  "List pets": 200,
  "Add a pet": 201,
  "Get a pet": 200,
  "Get the rate limit": 200,
  "Get the usage history": 200,
};

const store = await shared(openRunningStore({ services: ["rest"], environment: { PUBLIC_URL: publicUrl } }));

it.each([
  ["Postman, with the examples and without optional parameters", importToPostman, statuses],
  // Bruno reads only the servers of the document, and these two are beside them. The quickstart says so.
  ["Bruno", importToBruno, { ...statuses, "Get the rate limit": 404, "Get the usage history": 404 }],
])("%s: every imported request succeeds, also a second time", async (_tool, importDocument, expected) => {
  using client = openHttpClient(store.originOf("rest"));
  const requests = await importDocument((await client.send("GET", "/openapi.json")).text);
  expect(requests.map(({ name }) => name).sort()).toEqual(Object.keys(expected).sort());
  // The list first, as a new user does, and then everything again. A key can read the usage history once a second, so the second
  // time has another key.
  const keys = [(await store.database.issueKey()).key, (await store.database.issueKey()).key];
  const sent = keys.flatMap((key) => requests.map((request) => ({ ...request, key })));
  for (const { name, method, url, headers, body, key } of sent) {
    expect(url.startsWith(`${publicUrl}/`), url).toBe(true);
    const options = { key, headers, ...(body !== null && { body }) };
    const { status, text } = await client.send(method, url.slice(publicUrl.length), options);
    expect(status, `${name}: ${text}`).toBe(expected[name]);
  }
});

async function importToPostman(data: string) {
  const options = { parametersResolution: "Example", enableOptionalParameters: false } as const;
  const converted = await promisify(postman.convertV2)({ type: "string", data }, options);
  const written = converted?.output?.[0]?.data as { readonly variable: readonly [{ readonly value: string }] };
  // Bruno imports collections of Postman too, so `requestsOf` reads both.
  return requestsOf((await postmanToBruno(written)).collection, written.variable[0].value);
}

async function importToBruno(data: string) {
  const collection = openApiToBruno(JSON.parse(data));
  return requestsOf(collection, valuesOf(collection.environments[0].variables).baseUrl ?? "");
}

/** The requests of a collection, without the parameters and headers that are switched off. */
function requestsOf({ name, items = [], request }: BrunoItem, baseUrl: string): ImportedRequest[] {
  if (request === undefined) return items.flatMap((item) => requestsOf(item, baseUrl));
  const { method, url, headers, params, body } = request;
  // Bruno writes "http://" before the base URL of a collection of Postman.
  const template = url.replace(/^.*\{\{baseUrl\}\}/, baseUrl).replace(/\?.*/, "");
  const inPath = params.filter(({ type }) => type === "path");
  const query = new URLSearchParams(valuesOf(params.filter(({ type }) => type === "query")));
  const path = inPath.reduce((text, one) => text.replace(`:${one.name}`, one.value), template);
  return [{ name, method, url: `${path}?${query}`, headers: valuesOf(headers), body: body.json }];
}

interface ImportedRequest extends Pick<NonNullable<BrunoItem["request"]>, "method" | "url"> {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

function valuesOf(fields: readonly BrunoField[]): Record<string, string> {
  return Object.fromEntries(fields.filter(({ enabled }) => enabled).map(({ name, value }) => [name, value]));
}
