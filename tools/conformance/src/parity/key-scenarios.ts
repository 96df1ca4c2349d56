import type { Scenario } from "./scenario.js";
import { create, list, pet } from "./steps.js";

export const keyScenarios: readonly Scenario[] = [
  { name: "key: none", key: "none", steps: [list({}, "API_KEY_MISSING"), create(pet, "API_KEY_MISSING")] },
  { name: "key: malformed", key: "malformed", steps: [list({}, "API_KEY_INVALID"), create(pet, "API_KEY_INVALID")] },
  { name: "key: unknown", key: "unknown", steps: [list({}, "API_KEY_INVALID"), create(pet, "API_KEY_INVALID")] },
  { name: "key: revoked", key: "revoked", steps: [list({}, "API_KEY_REVOKED"), create(pet, "API_KEY_REVOKED")] },
  { name: "key: expired", key: "expired", steps: [list({}, "API_KEY_EXPIRED"), create(pet, "API_KEY_EXPIRED")] },
  {
    name: "key: two Authorization headers",
    steps: [list({}, "API_KEY_INVALID", { authorization: (key) => [`Bearer ${key}`, `Bearer ${key}`] })],
  },
  {
    name: "key: the scheme in lower case",
    steps: [list({}, "success", { authorization: (key) => [`bearer ${key}`] })],
  },
  {
    name: "key: another scheme",
    steps: [list({}, "API_KEY_MISSING", { authorization: (key) => [`Basic ${key}`] })],
  },
  { name: "key: no scheme", steps: [list({}, "API_KEY_MISSING", { authorization: (key) => [key] })] },
  { name: "key: the scheme alone", steps: [list({}, "API_KEY_MISSING", { authorization: () => ["Bearer "] })] },
  {
    name: "key: in X-Api-Key",
    key: "none",
    steps: [list({}, "API_KEY_MISSING", { headers: { "x-api-key": "pets_test_nonsense" } })],
  },
  {
    name: "key: judged before anything else of the request",
    key: "none",
    steps: [
      list({ limit: "0" }, "API_KEY_MISSING"),
      create("{", "API_KEY_MISSING", { body: "{" }),
      list({}, "API_KEY_MISSING", { method: "DELETE" }),
      list({}, "API_KEY_MISSING", { headers: { accept: "text/html" } }),
    ],
  },
];
