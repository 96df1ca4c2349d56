import { type AllFields, type Pet, Problem } from "@petstore/core";
import {
  acceptsJson,
  callerOf,
  headerValues,
  methodNotAllowed,
  onRoute,
  type RouterDeps,
  readJson,
  sendJson,
} from "@petstore/http";
import type { Request, RequestHandler, Router } from "express";
import { createSendPage } from "./page-response.js";

/** GET /pets/{petId} is deprecated and will be removed on 5 December 2030 (contract, "Versioning"). */
const deprecatedAtMs = Date.UTC(2026, 10, 20);
const removedAtMs = Date.UTC(2030, 11, 5);

export function addPetRoutes(router: Router, deps: RouterDeps): void {
  const { admission, config, core, now } = deps;
  // Without a public URL the links are relative.
  const origin = config.publicUrl ?? "";
  const petsUrl = `${origin}/v1/pets`;
  const sendPage = createSendPage(petJson);

  router
    .route("/v1/pets")
    .all(onRoute("/v1/pets"), admission.admit)
    .get(acceptsJson, async (req, res) => {
      const query = readListQuery(req);
      const page = await core.catalogue.list(callerOf(res), query);
      const { nextCursor } = page;
      if (nextCursor !== undefined) res.links({ next: nextPageUrl(petsUrl, query, nextCursor) });
      sendPage(req, res, page);
    })
    .post(acceptsJson, async (req, res) => {
      const idempotencyKey = readIdempotencyKey(req);
      const input = await readJson(req, res, deps, { scope: "write" });
      const { pet, replayed } = await core.catalogue.create(callerOf(res), { idempotencyKey, input });
      if (replayed) res.setHeader("Idempotency-Replayed", "true");
      sendJson(res, 201, petJson(pet));
    })
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  const notice = `<${origin}/docs/get-pet-removal.md>; rel="deprecation"; type="text/markdown"`;
  /** Sets Deprecation (RFC 9745), Sunset (RFC 8594) and Link before admission, so that refusals have them too. */
  const setRemovalHeaders: RequestHandler = (_req, res, next) => {
    res.setHeader("Deprecation", `@${deprecatedAtMs / 1000}`);
    res.setHeader("Sunset", new Date(removedAtMs).toUTCString());
    res.setHeader("Link", `${notice}, <${petsUrl}>; rel="successor-version"`);
    next();
  };
  // Not "/v1/pets/:petId": Express decodes parameters before admission, and throws if a path is not percent-encoded UTF-8.
  router
    .route(/^\/v1\/pets\/[^/]+$/)
    .all(onRoute("/v1/pets/{petId}"), setRemovalHeaders, admission.admit)
    .get((_req, _res, next) => {
      if (now() < removedAtMs) return next();
      throw new Problem("ENDPOINT_REMOVED", "GET /pets/{petId} was removed on 5 December 2030; use GET /pets.");
    })
    .get(acceptsJson, async (req, res) => {
      // A URIError becomes ROUTE_NOT_FOUND (problem-response.ts).
      const petId = decodeURIComponent(req.path.slice("/v1/pets/".length));
      sendJson(res, 200, petJson(await core.catalogue.get(callerOf(res), petId)));
    })
    .all(methodNotAllowed("GET", "HEAD"));
}

/** Converts the limit for the validator of both APIs. The validator refuses a repeated parameter, which is an array. */
function readListQuery({ query }: Request): Record<string, unknown> {
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
function readIdempotencyKey(req: Request): string | undefined {
  const [header, another] = headerValues(req, "idempotency-key");
  if (header === undefined) return undefined;
  if (another !== undefined) throw new Problem("VALIDATION_FAILED", "Idempotency-Key must be sent once");
  if (!header.startsWith('"')) return header;
  // RFC 8941 section 3.3.3: inside the quotes, each quote and backslash must be escaped, and no other character may be.
  if (!/^"([^"\\]|\\["\\])*"$/.test(header)) throw new Problem("VALIDATION_FAILED", invalidQuotedKey);
  return header.slice(1, -1).replace(/\\(["\\])/g, "$1");
}

/** `JSON.stringify` does not accept bigint. */
function petJson({ id, name, categoryId, status }: AllFields<Pet, "id" | "name" | "categoryId" | "status">): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
}
