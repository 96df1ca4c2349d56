/** The parts of the document that the reference page shows. Its integers are bigint. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
    /** Error responses of several operations, by status. */
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
    readonly headers: Readonly<Record<string, { readonly description: string; readonly example: unknown }>>;
  };
}

/** An operation with its method, and with the whole path of its address. */
export interface DocumentedOperation extends OpenApiOperation {
  readonly method: string;
  readonly address: string;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly content: Content };
  /** Present if the address does not begin with `/v1`. */
  readonly servers?: readonly object[];
  readonly responses: Readonly<Record<string, OpenApiResponse | { readonly $ref: string }>>;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required: boolean;
  readonly description: string;
  readonly schema: OpenApiSchema;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  /** Absent in a response without a body. */
  readonly content?: Content;
}

/** The keywords of JSON Schema that the document uses. */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly description?: string;
  /** Several if the value can be null. */
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly minimum?: bigint;
  readonly maximum?: bigint;
  readonly minLength?: bigint;
  readonly maxLength?: bigint;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly anyOf?: readonly OpenApiSchema[];
  readonly items?: OpenApiSchema;
  readonly minItems?: bigint;
  readonly maxItems?: bigint;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

/** All operations, in the order of the document. */
export function operationsOf({ paths }: OpenApiDocument): readonly DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const address = operation.servers === undefined ? `/v1${path}` : path;
      return { ...operation, method, address };
    }),
  );
}

/** A response that an operation has of its own, or one of the components. */
export function responsesOf(
  { responses }: OpenApiOperation,
  components: OpenApiDocument["components"],
): readonly StatusResponse[] {
  return Object.entries(responses).flatMap(([status, response]) => {
    const resolved = "$ref" in response ? components.responses[status] : response;
    return resolved === undefined ? [] : [{ status, response: resolved }];
  });
}

export interface StatusResponse {
  readonly status: string;
  readonly response: OpenApiResponse;
}

interface Content {
  readonly "application/json": {
    readonly schema: OpenApiSchema;
    readonly examples: Readonly<Record<string, { readonly value?: unknown }>>;
  };
}
