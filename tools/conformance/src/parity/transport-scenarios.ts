import type { Scenario } from "./scenario.js";
import { create, deviations, list, pet } from "./steps.js";

const large = JSON.stringify({ name: "n".repeat(70_000), categoryId: 1 });

export const transportScenarios: readonly Scenario[] = [
  ...["text/plain", "application/json; charset=utf-16", "application/x-www-form-urlencoded", ""].map((type) => ({
    name: `transport: Content-Type "${type}"`,
    steps: [create(pet, "UNSUPPORTED_MEDIA_TYPE", { headers: { "content-type": type } })],
  })),
  {
    name: 'transport: Content-Type "application/json; charset=UTF-8"',
    steps: [create(pet, "success", { headers: { "content-type": "application/json; charset=UTF-8" } })],
  },
  {
    name: "transport: a compressed body",
    steps: [create(pet, "UNSUPPORTED_MEDIA_TYPE", { headers: { "content-encoding": "gzip" } })],
  },
  { name: "transport: a body over 64 KiB", steps: [create(large, "PAYLOAD_TOO_LARGE")] },
  ...["", "{", '{"name":"Rex",}', "nonsense", '{"a":1,"a":1}'].map((body) => ({
    name: `transport: the body ${body === "" ? "is empty" : body}`,
    steps: [create(pet, "INVALID_JSON", { body })],
  })),
  {
    name: "transport: a body that is not UTF-8",
    steps: [create(pet, "INVALID_JSON", { body: Buffer.from([0x22, 0xff, 0x22]) })],
  },
  {
    name: "transport: nothing acceptable",
    steps: [
      list({}, "NOT_ACCEPTABLE", {
        headers: { accept: "text/html" },
        byDesign: [...ofGraphql("graphql"), ...ofGraphql("graphql connection")],
      }),
      create(pet, "NOT_ACCEPTABLE", { headers: { accept: "application/json;q=0" }, byDesign: ofGraphql("graphql") }),
    ],
  },
  { name: "transport: anything acceptable", steps: [list({}, "success", { headers: { accept: "*/*" } })] },
  ...["DELETE", "PUT", "PATCH"].map((method) => ({
    name: `transport: ${method}`,
    steps: [list({}, "METHOD_NOT_ALLOWED", { method })],
  })),
  {
    name: "transport: the caller's own request id",
    steps: [list({}, "success", { headers: { "x-request-id": "mine-1" } })],
  },
  {
    name: "transport: a request id that is not safe to repeat",
    steps: [list({}, "success", { headers: { "x-request-id": 'mine "1"' } })],
  },
  {
    name: "transport: another origin",
    steps: [list({}, "success", { headers: { origin: "https://shop.example" } })],
  },
  {
    name: "transport: a preflight, which needs no key and costs nothing",
    key: "none",
    steps: [
      list({}, "success", {
        method: "OPTIONS",
        headers: {
          origin: "https://shop.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,content-type",
        },
      }),
    ],
  },
];

function ofGraphql(api: "graphql" | "graphql connection") {
  return deviations(
    api,
    { message: "The Accept header excludes application/json and application/graphql-response+json." },
    "GraphQL has a second media type, and says so",
  );
}
