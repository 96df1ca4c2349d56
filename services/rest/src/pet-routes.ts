/** The table of routes of the REST API, with their handlers. */
import { type AllFields, type Pet, Problem } from "@petstore/core";
import {
  type ApiDeps,
  type HttpRequest,
  jsonReply,
  type Resource,
  readJson,
  repeated,
  serviceLinks,
} from "@petstore/http";
import { createPageReply } from "./page-reply.js";
import { createRemovalCheck, removalHeaders } from "./removal.js";

export function createPetRoutes(deps: ApiDeps): readonly Resource[] {
  const { catalogue, accountTurns, config } = deps;
  // Without a public URL the links are relative.
  const origin = config.publicUrl ?? "";
  const petsUrl = `${origin}/v1/pets`;
  const pageReply = createPageReply(petJson);
  const checkRemoval = createRemovalCheck(deps);

  return [
    {
      path: "/v1/pets",
      charge: { api: "rest" },
      async GET(request, { caller }) {
        const query = readListQuery(request);
        const page = await catalogue.list(caller, query);
        const { nextCursor } = page;
        if (nextCursor === undefined) return pageReply(page);
        return { ...pageReply(page), links: [`<${nextPageUrl(petsUrl, query, nextCursor)}>; rel="next"`] };
      },
      async POST(request, ticket) {
        const idempotencyKey = readIdempotencyKey(request);
        const input = await readJson(request, ticket, accountTurns, { scope: "write" });
        // Not the caller at the admission: `readJson` may have confirmed the key again.
        const { pet, replayed } = await catalogue.create(ticket.caller, { idempotencyKey, input });
        const reply = jsonReply(201, petJson(pet), replayed ? { "Idempotency-Replayed": "true" } : {});
        return { ...reply, links: serviceLinks };
      },
    },
    {
      path: "/v1/pets/{petId}",
      charge: { api: "rest", operation: "getPet" },
      // Refusals have them too.
      headers: removalHeaders,
      links: [
        `<${origin}/docs/get-pet-removal.md>; rel="deprecation"; type="text/markdown"`,
        `<${petsUrl}>; rel="successor-version"`,
      ],
      async GET({ path }, { caller }) {
        const refusal = checkRemoval();
        if (refusal !== undefined) return refusal;
        return jsonReply(200, petJson(await catalogue.get(caller, readPetId(path))));
      },
    },
  ];
}

/** The part of the path that names the pet. No resource has a path that is not percent-encoded UTF-8. */
function readPetId(path: string): string {
  try {
    return decodeURIComponent(path.slice("/v1/pets/".length));
  } catch (error) {
    throw new Problem("ROUTE_NOT_FOUND", undefined, { cause: error });
  }
}

/** Converts the limit for the validator of both APIs. The validator refuses a repeated parameter, which is an array. */
function readListQuery({ query }: HttpRequest): Record<string, unknown> {
  const { limit } = query;
  if (typeof limit !== "string") return query;
  // `Number` would also accept 1e1, 0x10 and spaces.
  return { ...query, limit: /^(0|[1-9]\d{0,9})$/.test(limit) ? Number(limit) : Number.NaN };
}

/** The parameters are valid, so they need no encoding. */
function nextPageUrl(url: string, { limit, status }: Record<string, unknown>, cursor: string): string {
  const statusFilter = status === undefined ? "" : `status=${status}&`;
  const pageSize = limit === undefined ? "" : `limit=${limit}&`;
  return `${url}?${statusFilter}${pageSize}cursor=${cursor}`;
}

const invalidQuotedKey =
  'Idempotency-Key must end with a quote if it begins with one, and inside the quotes " and \\ must be escaped with a backslash';

/**
 * The Idempotency-Key of a request, without quotes. The draft (draft-ietf-httpapi-idempotency-key-header-07, section 2.1)
 * requires a quoted string, but most clients send no quotes.
 */
function readIdempotencyKey({ idempotencyKey: header }: HttpRequest): string | undefined {
  if (header === undefined) return undefined;
  if (header === repeated) throw new Problem("VALIDATION_FAILED", "Idempotency-Key must be sent once");
  if (!header.startsWith('"')) return header;
  // RFC 8941 section 3.3.3: inside the quotes, each quote and backslash must be escaped, and no other character may be.
  if (!/^"([^"\\]|\\["\\])*"$/.test(header)) throw new Problem("VALIDATION_FAILED", invalidQuotedKey);
  return header.slice(1, -1).replace(/\\(["\\])/g, "$1");
}

/** `JSON.stringify` does not accept bigint. */
function petJson({ id, name, categoryId, status }: AllFields<Pet, "id" | "name" | "categoryId" | "status">): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
}
