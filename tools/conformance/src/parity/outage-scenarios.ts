import type { Scenario } from "./scenario.js";
import { create, list, pet } from "./steps.js";

const away = "SERVICE_UNAVAILABLE";

/** Played while PostgreSQL is stopped. Valid keys were seen just before, so the APIs know them. */
export const outageScenarios: readonly Scenario[] = [
  {
    name: "outage: the database is away, and a request it needs costs nothing",
    steps: [list({}, away), create(pet, away), create(pet, away, { idempotencyKey: "k-1" }), list({}, away)],
    holds: (answers) => {
      const said = answers.map(({ headers }) => `${headers["x-ratelimit-remaining"]}/${headers["retry-after"]}`);
      return new Set(said).size === 1 ? undefined : `X-RateLimit-Remaining and Retry-After are ${said.join(", ")}`;
    },
  },
  {
    name: "outage: what needs no database is answered as ever",
    steps: [
      list({ limit: "0" }, "VALIDATION_FAILED"),
      create("{}", "VALIDATION_FAILED"),
      create(pet, "INVALID_JSON", { body: "{" }),
      create(pet, "UNSUPPORTED_MEDIA_TYPE", { headers: { "content-type": "text/plain" } }),
      list({}, "METHOD_NOT_ALLOWED", { method: "DELETE" }),
    ],
  },
  { name: "outage: no key", key: "none", steps: [list({}, "API_KEY_MISSING")] },
  { name: "outage: a malformed key", key: "malformed", steps: [list({}, "API_KEY_INVALID")] },
  { name: "outage: a key nobody knows yet", key: "unknown", steps: [list({}, away)] },
];
