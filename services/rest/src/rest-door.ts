import { readFileSync } from "node:fs";
import { answerProblems, type DoorDeps, errorShape, routeNotFound } from "@petstore/http";
import { Router } from "express";
import { announceRemoval } from "./deprecation.js";
import { addPetRoutes } from "./pet-routes.js";

/** The REST door: `/v1`, and the notice its deprecated endpoint links to, which needs no key and costs nothing. */
export function openRestDoor({ core, admission, config, log, now }: DoorDeps): Router {
  const root = config.publicUrl ?? "";
  const baseUrl = `${root}/v1`;

  const v1 = Router({ caseSensitive: true, strict: true });
  // Not "/pets/:petId": that also matches what lies below, and throws for a path that is no percent-encoded UTF-8, which
  // has to pass admission like any other.
  v1.use(/^\/pets\/[^/]+$/, announceRemoval({ notice: `${root}${noticePath}`, successor: `${baseUrl}/pets` }));
  v1.use(admission.admit());
  addPetRoutes(v1, { catalogue: core.catalogue, baseUrl, now });
  v1.use(routeNotFound, answerProblems(log, errorShape));

  const notice = readFileSync(new URL("../docs/get-pet-removal.md", import.meta.url), "utf8");
  const router = Router({ caseSensitive: true, strict: true });
  router.use("/v1", v1);
  router.get(noticePath, async (req, res) => {
    await admission.reportAddressQuota(req, res);
    res.setHeader("Content-Type", "text/markdown; charset=utf-8");
    res.end(notice);
  });
  return router;
}

const noticePath = "/docs/get-pet-removal.md";
