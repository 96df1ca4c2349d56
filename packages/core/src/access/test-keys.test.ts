import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type KeyMode, mintApiKey } from "./api-key.js";
import { createAuthenticator } from "./authenticator.js";

const unknown = { code: "API_KEY_INVALID", message: "The API key is malformed or unknown." };

describe.each<[KeyMode, boolean]>([
  ["live", false],
  ["live", true],
  ["test", true],
])("a %s key, in a test store: %s", (mode, isTestStore) => {
  it("is looked up", async () => {
    const { problem, lookUps } = await authenticate(mode, isTestStore);
    expect(problem).toMatchObject(unknown);
    expect(lookUps).toBe(1);
  });
});

it("a test key is refused without a look-up in a store that is no test store", async () => {
  const { problem, lookUps } = await authenticate("test", false);
  expect(problem).toMatchObject({ code: "API_KEY_INVALID", message: "Test keys work only in a test store." });
  expect(lookUps).toBe(0);
});

/** Sends a new key to a store that has no keys. */
async function authenticate(mode: KeyMode, isTestStore: boolean) {
  let lookUps = 0;
  const findByDigest = async () => {
    lookUps += 1;
    return undefined;
  };
  const authenticator = createAuthenticator({ keys: { findByDigest }, monotonicNow: () => 0, isTestStore });
  const answer = await authenticator.authenticate(mintApiKey(mode, randomBytes), "a client");
  return { problem: answer.outcome === "rejected" ? answer.problem : undefined, lookUps };
}
