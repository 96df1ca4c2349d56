import type { Scenario } from "./scenario.js";
import { create, pet } from "./steps.js";

const other = '{"name":"Rex","categoryId":2}';
const bad = "VALIDATION_FAILED";

export const idempotencyScenarios: readonly Scenario[] = [
  {
    name: "idempotency: a repeated create is answered with the first pet",
    steps: [create(pet, "success", { idempotencyKey: "k-1" }), create(pet, "success", { idempotencyKey: "k-1" })],
    holds: ([first, second]) => {
      const replayed = [first, second].map((answer) => answer?.headers["idempotency-replayed"] ?? "absent").join();
      if (replayed !== "absent,true") return `Idempotency-Replayed is ${replayed}`;
      const ids = [first, second].map((answer) => answer?.outcome.kind === "success" && answer.outcome.pets[0]?.id);
      return ids[0] === ids[1] ? undefined : "two pets were made";
    },
  },
  {
    name: "idempotency: the same pet in another notation is a repetition",
    steps: [
      create('{"name":"Rex","categoryId":1000}', "success", { idempotencyKey: "k-1" }),
      create('{"status":"available","categoryId":1e3,"name":"Rex"}', "success", { idempotencyKey: "k-1" }),
    ],
  },
  {
    name: "idempotency: a key used again with another body",
    steps: [
      create(pet, "success", { idempotencyKey: "k-1" }),
      create(other, "IDEMPOTENCY_KEY_REUSED", { idempotencyKey: "k-1" }),
    ],
  },
  {
    name: "idempotency: a refused create leaves its key free",
    steps: [create("{}", bad, { idempotencyKey: "k-1" }), create(pet, "success", { idempotencyKey: "k-1" })],
  },
  {
    name: "idempotency: a key of 255 printable characters",
    steps: [create(pet, "success", { idempotencyKey: `!~ ${"k".repeat(252)}` })],
  },
  { name: "idempotency: an empty key", steps: [create(pet, bad, { idempotencyKey: "" })] },
  { name: "idempotency: a key of 256 characters", steps: [create(pet, bad, { idempotencyKey: "k".repeat(256) })] },
  { name: "idempotency: a key that is not ASCII", steps: [create(pet, bad, { idempotencyKey: "ké" })] },
];
