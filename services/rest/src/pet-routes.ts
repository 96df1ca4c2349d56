import type { Core } from "@petstore/core";
import {
  type Admission,
  acceptsJson,
  callerOf,
  catalogueFor,
  methodNotAllowed,
  readJson,
  sendJson,
} from "@petstore/http";
import type { Router } from "express";
import { untilRemoval } from "./deprecation.js";
import { idempotencyKey } from "./idempotency-key.js";
import { nextPageUrl, parseListQuery } from "./list-query.js";
import { petJson, petsJson } from "./pet-json.js";

export interface PetRoutesDeps {
  readonly admission: Pick<Admission, "confirmKey">;
  readonly core: Pick<Core, "catalogue" | "catalogueWhileUnreachable">;
  /** Where the router is reached, for links: an absolute URL or a path, without a trailing slash. */
  readonly baseUrl: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The contract's "Endpoints": listPets, createPet and getPet. Admission must stand before them on the router. */
export function addPetRoutes(router: Router, { admission, core, baseUrl, now }: PetRoutesDeps): void {
  router
    .route("/pets")
    .get(acceptsJson, async (req, res) => {
      const query = parseListQuery(req.url);
      const { pets, nextCursor } = await catalogueFor(res, core).list(query);
      if (nextCursor !== undefined) {
        res.setHeader("Link", `<${nextPageUrl(`${baseUrl}/pets`, query, nextCursor)}>; rel="next"`);
      }
      sendJson(res, 200, petsJson(pets));
    })
    .post(acceptsJson, async (req, res) => {
      const repeatKey = idempotencyKey(req);
      const input = await readJson(req, res);
      await admission.confirmKey(req, res);
      const { accountId } = callerOf(res);
      const { pet, replayed } = await catalogueFor(res, core).create({ accountId, idempotencyKey: repeatKey, input });
      if (replayed) res.setHeader("Idempotency-Replayed", "true");
      sendJson(res, 201, petJson(pet));
    })
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  router
    .route("/pets/:petId")
    .get(untilRemoval(now), acceptsJson, async (req, res) => {
      sendJson(res, 200, petJson(await catalogueFor(res, core).get(req.params.petId)));
    })
    .all(methodNotAllowed("GET", "HEAD"));
}
