import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, type Visit } from "./visit.js";

describeInBrowser("the reference page", (store) => {
  it("runs every operation with the key that was entered once, and shows status, headers and every digit", async () => {
    await using visit = await store.open({ width: 1280, withinOneMinute: true });
    const { page } = visit;
    await page.goto("/");
    await enterKey(page, await store.issueKey());
    await press(page, "createPet", "Rex");
    expect(await answerOf(page, "createPet")).toMatch(/^201 Created in \d+ ms, 59 of 60 requests left/s);
    await press(page, "createPet", "An identifier beyond 2^53");
    expect(await answerOf(page, "createPet")).toContain('"categoryId": 9007199254740993,');
    await press(page, "createPet", "With an Idempotency-Key");
    await press(page, "createPet", "With an Idempotency-Key");
    expect(await answerOf(page, "createPet")).toMatch(/idempotency-replayed\s*true/s);
    await press(page, "listPets", "First two available pets");
    expect(await answerOf(page, "listPets")).toMatch(/200 OK.*"name": "Rex".*x-ratelimit-reset\s*\d{10}/s);
    await page.locator("#listPets .answer button").click();
    await expect.poll(() => answerOf(page, "listPets")).toContain('"name": "Ina"');
    await press(page, "getPet", "The first pet");
    expect(await answerOf(page, "getPet")).toMatch(/200 OK.*sunset\s*Thu, 05 Dec 2030 00:00:00 GMT/s);
    // Seven calls, and seven units: the page itself and what it loaded cost nothing.
    expect(await answerOf(page, "getPet")).toContain("53 of 60 requests left");
    expectNothingWrong(visit);
    expect(await visit.seriousIssues()).toEqual([]);
    await visit.screenshot("reference-desktop");
  });

  it("shows a 401 without a key, a 400 and a 404 for what they are", async () => {
    await using visit = await store.open({ width: 1280, colorScheme: "dark" });
    const { page } = visit;
    await page.goto("/");
    await enterKey(page, await store.issueKey());
    await press(page, "listPets", "Without a key (401)");
    expect(await answerOf(page, "listPets")).toMatch(/401 Unauthorized.*API_KEY_MISSING.*www-authenticate/s);
    await press(page, "listPets", "Limit 0 (400)");
    expect(await answerOf(page, "listPets")).toMatch(/400 Bad Request.*VALIDATION_FAILED/s);
    await press(page, "getPet", "An unknown pet (404)");
    expect(await answerOf(page, "getPet")).toMatch(/404 Not Found.*PET_NOT_FOUND/s);
    expectNothingWrong(visit);
    expect(await visit.seriousIssues()).toEqual([]);
    await visit.screenshot("reference-desktop-dark");
  });

  it("shows a 429 and when to return", async () => {
    await using visit = await store.open({ width: 390 });
    const { page } = visit;
    await page.goto("/");
    await enterKey(page, await store.issueKey({ perMinute: 1, perDay: 1 }));
    await press(page, "listPets", "First two available pets");
    await press(page, "listPets", "First two available pets");
    expect(await answerOf(page, "listPets")).toMatch(/429 Too Many Requests.*DAILY_QUOTA_EXCEEDED.*retry-after\s*\d+/s);
    expectNothingWrong(visit);
    await page
      .locator("#listPets details", { hasText: "Responses" })
      .evaluate((details) => details.toggleAttribute("open", true));
    expect(await visit.seriousIssues()).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await visit.screenshot("reference-phone");
  });

  it("never shows the key in the line for curl, the address or the page", async () => {
    await using visit = await store.open({ width: 1280 });
    const { page } = visit;
    await page.goto("/");
    const key = await store.issueKey();
    await enterKey(page, key);
    await press(page, "createPet", "Rex");
    await page.goto("/usage");
    await page.goto("/");
    await press(page, "listPets", "First two available pets");
    expect(await answerOf(page, "listPets")).toContain('"Authorization: Bearer $API_KEY"');
    expect(await page.content()).not.toContain(key);
    expect(page.url()).not.toContain(key);
    expectNothingWrong(visit);
  });

  it("forgets a key that is forgotten", async () => {
    await using visit = await store.open({ width: 390, colorScheme: "dark" });
    const { page } = visit;
    await page.goto("/");
    await enterKey(page, await store.issueKey());
    await page.getByRole("button", { name: "Forget key" }).click();
    await press(page, "listPets", "First two available pets");
    expect(await answerOf(page, "listPets")).toContain("API_KEY_MISSING");
    await page.reload();
    expect(await page.getByLabel("API key").inputValue()).toBe("");
    await visit.screenshot("reference-phone-dark");
  });
});

async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Use this key" }).click();
}

/** Presses a button of an operation and waits for the answer it brings. */
async function press(page: Page, operation: string, name: string): Promise<void> {
  const answered = page.waitForResponse((response) => response.url().includes("/v1/"));
  await page.locator(`#${operation}`).getByRole("button", { name, exact: true }).click();
  await answered;
  await page.locator(`#${operation} form:not([aria-busy]) .answer`).waitFor();
}

function answerOf(page: Page, operation: string): Promise<string> {
  return page.locator(`#${operation} .answer`).evaluate((answer) => answer.textContent ?? "");
}

function expectNothingWrong({ errors, otherOrigins }: Visit): void {
  expect(errors).toEqual([]);
  expect(otherOrigins).toEqual([]);
}
