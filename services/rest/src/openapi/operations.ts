/** The three operations of the contract, once: the OpenAPI document and the reference page are both drawn from here. */
import { type JsonSchema, maxInt64, minInt64, type ProblemCode, petJsonSchemas } from "@petstore/core";
import type { HeaderName } from "./headers.js";

export interface Operation {
  readonly id: "listPets" | "createPet" | "getPet";
  readonly method: "get" | "post";
  /** Below the version segment. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly isDeprecated: boolean;
  readonly parameters: readonly Parameter[];
  /** Examples of request bodies, by name; none where the operation takes no body. */
  readonly bodies: Readonly<Record<string, Example>> | undefined;
  readonly success: Success;
  /** Codes this operation answers beside those that every operation can. */
  readonly codes: readonly ProblemCode[];
  /** Headers of every answer that got as far as the route, beside those of every answer. */
  readonly routeHeaders: readonly HeaderName[];
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
  readonly headers: readonly HeaderName[];
  readonly examples: Readonly<Record<string, Example>>;
}

const rex = { id: 1n, name: "Rex", categoryId: 7n, status: "available" };
const ada = { id: 2n, name: "Ada", categoryId: 9_007_199_254_740_993n, status: "pending" };

const requestId: Parameter = {
  name: "X-Request-Id",
  in: "header",
  required: false,
  description: "Your own id for this request, repeated in the answer. Any other text is replaced by an id of ours.",
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
    summary: "List animals",
    description:
      'The animals of the store in ascending order of `id`. While another page exists, the `Link` header names it with `rel="next"`.',
    isDeprecated: false,
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
    bodies: undefined,
    success: {
      status: 200,
      description: "The animals of one page.",
      schema: { type: "array", maxItems: 100, items: { $ref: "#/components/schemas/Pet" } },
      headers: ["Link"],
      examples: { page: { summary: "Two animals", value: [rex, ada] }, none: { summary: "No animal", value: [] } },
    },
    codes: ["VALIDATION_FAILED", "INVALID_CURSOR"],
    routeHeaders: [],
  },
  {
    id: "createPet",
    method: "post",
    path: "/pets",
    summary: "Add an animal",
    description:
      "Adds one animal and answers it with its `id`. With an `Idempotency-Key` the same call can be repeated safely for 24 hours: it adds one animal, and every repetition gets the first answer.",
    isDeprecated: false,
    parameters: [
      {
        name: "Idempotency-Key",
        in: "header",
        required: false,
        description: "1 to 255 printable ASCII characters, bare or as a quoted string; remembered for your account.",
        schema: { type: "string", minLength: 1, pattern: "^[\\x20-\\x7E]*$" },
        example: "5c1f6f0e-1f0a-4c8e-9d53-0a5d7e6b2c11",
      },
      requestId,
    ],
    bodies: {
      available: { summary: "Without a status: available", value: { name: "Rex", categoryId: 7n } },
      exact: {
        summary: "An identifier beyond 2^53",
        value: { name: "Ada", categoryId: 9_007_199_254_740_993n, status: "pending" },
      },
    },
    success: {
      status: 201,
      description: "The animal that was added, now or by the first call with the same idempotency key.",
      schema: { $ref: "#/components/schemas/Pet" },
      headers: ["Idempotency-Replayed"],
      examples: { added: { summary: "The animal", value: ada } },
    },
    codes: [
      "INVALID_JSON",
      "VALIDATION_FAILED",
      "IDEMPOTENCY_IN_PROGRESS",
      "PAYLOAD_TOO_LARGE",
      "UNSUPPORTED_MEDIA_TYPE",
      "IDEMPOTENCY_KEY_REUSED",
    ],
    routeHeaders: [],
  },
  {
    id: "getPet",
    method: "get",
    path: "/pets/{petId}",
    summary: "Get an animal",
    description:
      "Deprecated since 20 November 2026 and removed on 5 December 2030, from when on it answers `410 ENDPOINT_REMOVED`. Use the list, with its `status` filter, instead.",
    isDeprecated: true,
    parameters: [
      {
        name: "petId",
        in: "path",
        required: true,
        description: "The identifier of the animal. What is no int64 is answered like an unknown one.",
        schema: { type: "integer", format: "int64", minimum: minInt64, maximum: maxInt64 },
        example: 1,
      },
      requestId,
    ],
    bodies: undefined,
    success: {
      status: 200,
      description: "The animal.",
      schema: { $ref: "#/components/schemas/Pet" },
      headers: [],
      examples: { animal: { summary: "The animal", value: rex } },
    },
    codes: ["PET_NOT_FOUND", "ROUTE_NOT_FOUND", "ENDPOINT_REMOVED"],
    routeHeaders: ["Deprecation", "Sunset", "DeprecationLink"],
  },
];
