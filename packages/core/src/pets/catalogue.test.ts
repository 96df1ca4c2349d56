import { expect, it } from "vitest";
import type { Caller } from "../admission/caller.js";
import { Problem } from "../problem.js";
import { createCatalogue } from "./catalogue.js";

async function unexpected(): Promise<never> {
  throw new Error("a refused call reads or writes pets");
}
const { list, listAsConnection, create, get } = createCatalogue({ run: unexpected }, { read: unexpected });

type Call = (caller: Caller) => Promise<unknown>;
const input = { name: "Rex", categoryId: 1n };
const invalid = "VALIDATION_FAILED";
const staleCause = new Problem("SERVICE_UNAVAILABLE");

it.each<[name: string, scope: "read" | "write", call: Call, invalidCall: Call, code: string]>([
  ["list", "read", (caller) => list(caller, {}), (caller) => list(caller, { limit: 0 }), invalid],
  ["list", "read", (caller) => list(caller, {}), (caller) => list(caller, { cursor: "a" }), "INVALID_CURSOR"],
  [
    "listAsConnection",
    "read",
    (caller) => listAsConnection(caller, { first: 1 }),
    (caller) => listAsConnection(caller, { first: 0 }),
    invalid,
  ],
  ["get", "read", (caller) => get(caller, "1"), (caller) => get(caller, "one"), "PET_NOT_FOUND"],
  ["create", "write", (caller) => create(caller, { input }), (caller) => create(caller, { input: {} }), invalid],
  [
    "create",
    "write",
    (caller) => create(caller, { input, idempotencyKey: "once" }),
    (caller) => create(caller, { input, idempotencyKey: "" }),
    invalid,
  ],
])(
  "%s checks the scope %s, then its input, and then whether the key is stale",
  async (_name, scope, call, invalidCall, code) => {
    const missing = scope === "read" ? "write" : "read";
    const message = `This operation needs an API key whose scope includes ${scope}.`;
    for (const refused of [call, invalidCall]) {
      const outcome = refused({ accountId: 1n, scope: missing, staleCause });
      await expect(outcome).rejects.toMatchObject({ code: "INSUFFICIENT_SCOPE", message });
    }
    for (const allowed of [scope, "both"] as const) {
      const caller: Caller = { accountId: 1n, scope: allowed, staleCause };
      await expect(invalidCall(caller)).rejects.toMatchObject({ code });
      const unavailable = { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1, cause: { cause: staleCause } };
      await expect(call(caller)).rejects.toMatchObject(unavailable);
      await expect(call({ ...caller, staleCause: undefined })).rejects.toThrow("reads or writes pets");
    }
  },
);
