// The names in the operations guide are those of the code.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), "utf8");
const [guide, settings] = [await read("../operations.md"), await read("../../../packages/core/.env.example")];
const alerts = `${await read("../prometheus/alerts.yaml")}${await read("../prometheus/alerts.ha.yaml")}`;

/** Error codes, and names of Node.js, PostgreSQL's image, etcd and the examples of the guide. */
const foreignNames = [
  "ACCOUNT_SUSPENDED",
  "ADMINISTRATOR_URL",
  "API_KEY_INVALID",
  "DATABASE_OWNER_URL",
  "ETCD_INITIAL_CLUSTER_STATE",
  "IDEMPOTENCY_IN_PROGRESS",
  "INSUFFICIENT_SCOPE",
  "INTERNAL_ERROR",
  "NODE_EXTRA_CA_CERTS",
  "NODE_OPTIONS",
  "OWNER_PASSWORD_FILE",
  "PETSTORE_ACTOR",
  "PETSTORE_ADMINISTRATOR_URL",
  "POSTGRES_USER",
  "SERVICE_PASSWORD_FILE",
  "SERVICE_UNAVAILABLE",
];

it.each([
  ["alert", /\bPetstore[A-Z]\w+/g, (name: string) => alerts.includes(`alert: ${name}\n`)],
  // Another test compares the metrics of the alerts with those of running services.
  ["metric", /\bpetstore_\w+(?:_total|_mode)\b/g, (name: string) => alerts.includes(name)],
  ["setting", /\b[A-Z]+(?:_[A-Z]+)+\b/g, (name: string) => foreignNames.includes(name) || settings.includes(name)],
] as const)("names no %s that does not exist", (_, pattern, exists) => {
  const names = [...new Set(guide.match(pattern))];
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !exists(name))).toEqual([]);
});
