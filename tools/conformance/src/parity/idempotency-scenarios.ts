import type { Scenario } from "./scenario.js";
import { animal, create } from "./steps.js";

const other = '{"name":"Rex","categoryId":2}';
const bad = "VALIDATION_FAILED";

export const idempotencyScenarios: readonly Scenario[] = [
  {
    name: "idempotency: a repeated create is answered with the first animal",
    steps: [create(animal, "success", { idempotencyKey: "k-1" }), create(animal, "success", { idempotencyKey: "k-1" })],
    holds: ([first, second]) => {
      const replayed = [first, second].map((answer) => answer?.headers["idempotency-replayed"] ?? "absent").join();
      if (replayed !== "absent,true") return `Idempotency-Replayed is ${replayed}`;
      const ids = [first, second].map((answer) => answer?.outcome.kind === "success" && answer.outcome.animals[0]?.id);
      return ids[0] === ids[1] ? undefined : "two animals were made";
    },
  },
  {
    name: "idempotency: the same animal in another notation is a repetition",
    steps: [
      create('{"name":"Rex","categoryId":1000}', "success", { idempotencyKey: "k-1" }),
      create('{"status":"available","categoryId":1e3,"name":"Rex"}', "success", { idempotencyKey: "k-1" }),
    ],
  },
  {
    name: "idempotency: a key used again with another body",
    steps: [
      create(animal, "success", { idempotencyKey: "k-1" }),
      create(other, "IDEMPOTENCY_KEY_REUSED", { idempotencyKey: "k-1" }),
    ],
  },
  {
    name: "idempotency: a refused create leaves its key free",
    steps: [create("{}", bad, { idempotencyKey: "k-1" }), create(animal, "success", { idempotencyKey: "k-1" })],
  },
  {
    name: "idempotency: a key of 255 printable characters",
    steps: [create(animal, "success", { idempotencyKey: `!~ ${"k".repeat(252)}` })],
  },
  { name: "idempotency: an empty key", steps: [create(animal, bad, { idempotencyKey: "" })] },
  { name: "idempotency: a key of 256 characters", steps: [create(animal, bad, { idempotencyKey: "k".repeat(256) })] },
  { name: "idempotency: a key that is not ASCII", steps: [create(animal, bad, { idempotencyKey: "ké" })] },
];
