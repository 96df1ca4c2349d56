import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser } from "./visit.js";

describeInBrowser("the usage page", (store) => {
  it("shows both windows, their resets and the plan, and spends one request for each refresh", async () => {
    await using visit = await store.open({ width: 1280, withinOneMinute: true });
    const { page } = visit;
    await page.goto("/usage");
    await enterKey(page, await store.issueKey());
    await expect.poll(() => readings(page)).toEqual([59, 999]);
    expect(await page.locator("#usage-plan").textContent()).toBe(
      "You have the Free plan: 60 requests a minute, 1,000 a day.",
    );
    expect(await page.locator("#gauge-minute .reset").textContent()).toMatch(/^resets in (1 min 0|\d{1,2}) s, at /);
    expect(await page.locator("#gauge-day .reset").textContent()).toMatch(/^resets in (\d+ h )?\d+ min/);
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(() => readings(page)).toEqual([58, 998]);
    // Counting down is the page's own doing: two seconds later nothing more is spent.
    const before = await page.locator("#gauge-minute .reset").textContent();
    await expect.poll(() => page.locator("#gauge-minute .reset").textContent()).not.toBe(before);
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(() => readings(page)).toEqual([57, 997]);
    expect(visit.errors).toEqual([]);
    expect(visit.otherOrigins).toEqual([]);
    expect(await visit.seriousIssues()).toEqual([]);
    await visit.screenshot("usage-desktop");
  });

  it("takes the key along from page to page", async () => {
    await using visit = await store.open({ width: 390, colorScheme: "dark", withinOneMinute: true });
    const { page } = visit;
    await page.goto("/");
    await enterKey(page, await store.issueKey());
    await page.getByRole("link", { name: "Usage" }).click();
    await expect.poll(() => readings(page)).toEqual([59, 999]);
    expect(await visit.seriousIssues()).toEqual([]);
    expect(visit.errors).toEqual([]);
    await visit.screenshot("usage-phone-dark");
  });

  it("says that the limits are used up, and when the key is banned until when", async () => {
    await using visit = await store.open({ width: 390, withinOneMinute: true });
    const { page } = visit;
    await page.goto("/usage");
    await enterKey(page, await store.issueKey({ perMinute: 1, perDay: 50 }));
    await expect.poll(() => readings(page)).toEqual([0, 49]);
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(() => page.locator("#usage-state").textContent()).toContain("RATE_LIMIT_EXCEEDED");
    await page.waitForTimeout(50);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("button", { name: "Refresh" }).click();
    await expect.poll(() => page.locator("#usage-state").textContent()).toMatch(/API_KEY_BANNED.*for another \d+ s/);
    expect(await page.locator("#usage-plan").textContent()).toContain("individual limits");
    expect(await visit.seriousIssues()).toEqual([]);
    expect(visit.errors).toEqual([]);
    await visit.screenshot("usage-phone-banned");
  });

  it("shows no gauge for a key that is none", async () => {
    await using visit = await store.open({ width: 390 });
    const { page } = visit;
    await page.goto("/usage");
    await enterKey(page, "pets_live_nonsense");
    await expect.poll(() => page.locator("#usage-state").textContent()).toContain("API_KEY_INVALID");
    expect(await page.locator("#gauge-minute .left").textContent()).toBe("-");
  });
});

async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Use this key" }).click();
}

/** The values of the two dials, as assistive technology reads them. */
async function readings(page: Page): Promise<number[]> {
  const dials = await page.getByRole("meter").all();
  return Promise.all(dials.map(async (dial) => Number(await dial.getAttribute("aria-valuenow"))));
}
