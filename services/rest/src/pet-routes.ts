import type { Catalogue } from "@petstore/core";
import { acceptsJson, callerOf, methodNotAllowed, readJson, sendJson } from "@petstore/http";
import type { Router } from "express";
import { untilRemoval } from "./deprecation.js";
import { idempotencyKey } from "./idempotency-key.js";
import { nextPageUrl, parseListQuery } from "./list-query.js";
import { petJson, petsJson } from "./pet-json.js";

export interface PetRoutesDeps {
  readonly catalogue: Catalogue;
  /** Where the router is reached, for links: an absolute URL or a path, without a trailing slash. */
  readonly baseUrl: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The contract's "Endpoints": listPets, createPet and getPet. Admission must stand before them on the router. */
export function addPetRoutes(router: Router, { catalogue, baseUrl, now }: PetRoutesDeps): void {
  router
    .route("/pets")
    .get(acceptsJson, async (req, res) => {
      const query = parseListQuery(req.url);
      const { pets, nextCursor } = await catalogue.list(query);
      if (nextCursor !== undefined) {
        res.setHeader("Link", `<${nextPageUrl(`${baseUrl}/pets`, query, nextCursor)}>; rel="next"`);
      }
      sendJson(res, 200, petsJson(pets));
    })
    .post(acceptsJson, async (req, res) => {
      const { pet, replayed } = await catalogue.create({
        accountId: callerOf(res).accountId,
        idempotencyKey: idempotencyKey(req),
        input: await readJson(req, res),
      });
      if (replayed) res.setHeader("Idempotency-Replayed", "true");
      sendJson(res, 201, petJson(pet));
    })
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  router
    .route("/pets/:petId")
    .get(untilRemoval(now), acceptsJson, async (req, res) => {
      sendJson(res, 200, petJson(await catalogue.get(req.params.petId)));
    })
    .all(methodNotAllowed("GET", "HEAD"));
}
