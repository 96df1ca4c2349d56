/** The three operations of the REST API. The OpenAPI document and the reference page are both built from them. */
import { type JsonSchema, maxInt64, minInt64, type ProblemCode, petJsonSchemas } from "@petstore/core";
import type { HeaderName } from "./headers.js";

export interface Operation {
  readonly id: "listPets" | "createPet" | "getPet";
  readonly method: "get" | "post";
  /** The path after `/v1`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly isDeprecated?: true;
  readonly parameters: readonly Parameter[];
  /** Named examples of the request body, if the operation has one. */
  readonly bodies?: Readonly<Record<string, Example>>;
  readonly success: Success;
  /** The error codes of this operation, in addition to those of every operation. */
  readonly codes: readonly ProblemCode[];
  /** The headers that the route adds to all of its responses, in addition to those of every response. */
  readonly routeHeaders?: readonly HeaderName[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

interface Example {
  readonly summary: string;
  readonly value: unknown;
}

interface Success {
  readonly status: 200 | 201;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly headers?: readonly HeaderName[];
  readonly examples: Readonly<Record<string, Example>>;
}

const rex = { id: 1n, name: "Rex", categoryId: 7n, status: "available" };
const ada = { id: 2n, name: "Ada", categoryId: 9_007_199_254_740_993n, status: "pending" };

const requestId: Parameter = {
  name: "X-Request-Id",
  in: "header",
  required: false,
  description:
    "Your own id for this request, which the response repeats. The service replaces a malformed id by a new one.",
  schema: { type: "string" },
  example: "checkout-4711",
};

const { listParameters } = petJsonSchemas();
const listExamples: Readonly<Record<string, unknown>> = { limit: 2, status: "available", cursor: "AQEAAAAAAAAAAg" };

export const operations: readonly Operation[] = [
  {
    id: "listPets",
    method: "get",
    path: "/pets",
    summary: "List pets",
    description:
      'Returns pets in ascending order of `id`. If there is another page, the `Link` header contains its address with `rel="next"`. The pages are not a change feed: a pet that is created while a client reads them may be missing.',
    parameters: [
      ...Object.entries(listParameters).map(([name, { description, ...schema }]) => ({
        name,
        in: "query" as const,
        required: false,
        description: String(description),
        schema,
        example: listExamples[name],
      })),
      requestId,
    ],
    success: {
      status: 200,
      description: "One page of pets.",
      schema: { type: "array", maxItems: 100, items: { $ref: "#/components/schemas/Pet" } },
      headers: ["Link"],
      examples: { page: { summary: "Two pets", value: [rex, ada] }, none: { summary: "No pets", value: [] } },
    },
    codes: ["VALIDATION_FAILED", "INVALID_CURSOR"],
  },
  {
    id: "createPet",
    method: "post",
    path: "/pets",
    summary: "Add a pet",
    description:
      "Adds a pet and returns it with its `id`. With an `Idempotency-Key` the same request can be repeated safely for 24 hours: it adds one pet, and each repetition gets the response of the first request.",
    parameters: [
      {
        name: "Idempotency-Key",
        in: "header",
        required: false,
        description:
          "1 to 255 printable ASCII characters, plain or as a quoted string. The key is stored for your account for 24 hours.",
        schema: { type: "string", minLength: 1, pattern: "^[\\x20-\\x7E]*$" },
        example: "5c1f6f0e-1f0a-4c8e-9d53-0a5d7e6b2c11",
      },
      requestId,
    ],
    bodies: {
      available: { summary: "Without a status (the pet is available)", value: { name: "Rex", categoryId: 7n } },
      exact: {
        summary: "An identifier beyond 2^53",
        value: { name: "Ada", categoryId: 9_007_199_254_740_993n, status: "pending" },
      },
    },
    success: {
      status: 201,
      description: "The new pet, or the pet that an earlier request with the same idempotency key added.",
      schema: { $ref: "#/components/schemas/Pet" },
      headers: ["Idempotency-Replayed"],
      examples: { added: { summary: "The new pet", value: ada } },
    },
    codes: [
      "INVALID_JSON",
      "VALIDATION_FAILED",
      "IDEMPOTENCY_IN_PROGRESS",
      "PAYLOAD_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      "IDEMPOTENCY_KEY_REUSED",
    ],
  },
  {
    id: "getPet",
    method: "get",
    path: "/pets/{petId}",
    summary: "Get a pet",
    description:
      "Deprecated since 20 November 2026. It will be removed on 5 December 2030, and then responds with `410 ENDPOINT_REMOVED`. Use the list with its `status` filter instead.",
    isDeprecated: true,
    parameters: [
      {
        name: "petId",
        in: "path",
        required: true,
        description:
          "The identifier of the pet. A value that is not an int64 gets the same response as an unknown identifier.",
        schema: { type: "integer", format: "int64", minimum: minInt64, maximum: maxInt64 },
        example: 1,
      },
      requestId,
    ],
    success: {
      status: 200,
      description: "The pet.",
      schema: { $ref: "#/components/schemas/Pet" },
      examples: { pet: { summary: "A pet", value: rex } },
    },
    codes: ["PET_NOT_FOUND", "ROUTE_NOT_FOUND", "ENDPOINT_REMOVED"],
    routeHeaders: ["Deprecation", "Sunset", "DeprecationLink"],
  },
];
