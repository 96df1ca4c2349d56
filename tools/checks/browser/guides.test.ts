// @module-tag chromium
import { describe, expect } from "vitest";
import { it } from "./it.js";

describe("a guide", () => {
  it("shows the address of this service, highlights its code, and copies it", async ({ store, open }) => {
    const { page } = await open({ width: 390 });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/docs/graphql/quickstart");
    const block = page.locator(".code", { hasText: "export GRAPHQL_URL" });
    await block.getByRole("button", { name: "Copy" }).click();
    await block.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(
      `export GRAPHQL_URL=${store.origin}/graphql\nexport API_KEY=pets_test_...`,
    );
    expect(await page.locator("article").textContent()).not.toContain("127.0.0.1:3000");
    const spans = 'document.querySelectorAll(".code code [class^=hljs]")';
    const colours = await page.evaluate(`new Set(Array.from(${spans}, (span) => getComputedStyle(span).color)).size`);
    expect(colours).toBeGreaterThan(3);
  });

  it("has an address for each heading and each error code", async ({ open }) => {
    const { page } = await open({ width: 1280 });
    await page.goto("/docs/limits");
    await page.getByRole("link", { name: "Bans" }).click();
    expect(new URL(page.url()).hash).toBe("#bans");
    await page.goto("/docs/errors#RATE_LIMIT_EXCEEDED");
    expect(await page.locator("tr:has(:target)").textContent()).toContain("Wait for Retry-After");
  });
});
