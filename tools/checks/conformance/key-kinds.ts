import { mintUnknownKey } from "../faults/environment/apis.js";
import type { IssueOptions, StoreDatabase } from "../src/store-database.js";

/** The options of keys that are stored. */
const storedKeys = {
  valid: {},
  expired: { expiresAt: new Date(0) },
  revoked: { isRevoked: true },
  suspended: { isSuspended: true },
  read: { scope: "read" },
  write: { scope: "write" },
  test: { mode: "test" },
} as const satisfies Readonly<Record<string, IssueOptions>>;

/** `read` and `write` are scopes. `test` is a valid key for test stores, and the services here are none. */
export type KeyKind = keyof typeof storedKeys | "malformed" | "unknown";

/** Returns a new key of a new account. */
export async function issueKeyOfKind(
  { issueKey }: StoreDatabase,
  kind: KeyKind,
  customLimits?: IssueOptions["customLimits"],
): Promise<string> {
  if (kind === "malformed") return "pets_test_nonsense";
  if (kind === "unknown") return mintUnknownKey();
  return (await issueKey({ ...storedKeys[kind], ...(customLimits && { customLimits }) })).key;
}
