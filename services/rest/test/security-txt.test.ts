import { expect, it } from "vitest";
import { securityTxt } from "../src/security-txt.js";
import { openTestStore } from "./test-store.js";

const securityContact = "mailto:security@petstore.example";
const startedAtMs = Date.UTC(2027, 1, 28, 23, 59);

it("names the contact, when the file expires, and its address", () => {
  expect(securityTxt({ securityContact, publicUrl: "https://petstore.example" }, startedAtMs)).toBe(
    `Contact: ${securityContact}
Expires: 2028-02-01T00:00:00Z
Preferred-Languages: en
Canonical: https://petstore.example/.well-known/security.txt
`,
  );
});

it("names no address that is not HTTPS, and has no file without a contact", () => {
  expect(securityTxt({ securityContact, publicUrl: "http://127.0.0.1:3000" }, startedAtMs)).not.toContain("Canonical");
  expect(securityTxt({ securityContact: undefined, publicUrl: undefined }, startedAtMs)).toBeUndefined();
});

it("is served without a key if the operator has set a contact, and expires within a year", async () => {
  await using store = await openTestStore({ SECURITY_CONTACT: securityContact });
  const { status, headers, text } = await store.call("GET", "/.well-known/security.txt");
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  const expiryMs = Date.parse(/^Expires: (\S+)$/m.exec(text)?.[1] ?? "");
  const days = (expiryMs - store.clock.nowMs) / 86_400_000;
  expect(days).toBeGreaterThan(330);
  expect(days).toBeLessThan(366);
});

it("is an unknown path without a contact", async () => {
  await using store = await openTestStore();
  expect((await store.call("GET", "/.well-known/security.txt")).status).toBe(401);
});
