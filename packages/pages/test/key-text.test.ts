import { expect, it } from "vitest";
import { describeKey } from "../browser/key-text.js";

const account = { name: "shop" };
const bare = { prefix: null, name: null, scope: "both", expiresAt: null };

it.each([
  [bare, "A key of the account shop. It can list and add pets. It has no end."],
  [
    { prefix: "pets_live_4fTq9ZbX", name: "website", scope: "read", expiresAt: "2030-12-05T14:05:00.250Z" },
    "Key pets_live_4fTq9ZbX, named website, of the account shop. It can list pets. It ends on December 5, 2030, 14:05:00 UTC (06:05:00 PST).",
  ],
  [
    { ...bare, prefix: "pets_test_4fTq9ZbX", scope: "write" },
    "Key pets_test_4fTq9ZbX of the account shop. It can add pets. It has no end.",
  ],
])("says in words what the key %o is", (key, expected) => {
  expect(describeKey({ key, account }, "America/Los_Angeles")).toBe(expected);
});
