import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, type Visit } from "./visit.js";

describeInBrowser("GraphiQL", (store) => {
  it("runs the ready queries with the key that was entered on another page, and shows headers", async () => {
    await using visit = await store.open({ width: 1280, withinOneMinute: true });
    const { page } = visit;
    await page.goto("/");
    await enterKey(page, await store.issueKey());
    await page.getByRole("link", { name: "GraphiQL" }).click();
    await expect.poll(() => stateOf(page)).toBe("200 OK, 59 of 60 requests left");
    await page.locator(".graphiql-tab").nth(1).click();
    await run(page);
    await expect.poll(() => resultOf(page)).toContain("9223372036854775807");
    await page.locator(".graphiql-tab").nth(0).click();
    await run(page);
    await expect.poll(() => resultOf(page)).toContain("petsConnection");
    await expect.poll(() => stateOf(page)).toBe("200 OK, 57 of 60 requests left");
    await page.getByText("Headers of the last response").click();
    expect(await page.locator("#answer-headers").textContent()).toMatch(/x-ratelimit-reset\s*\d{10}/);
    expectNothingWrong(visit);
    expect(await visit.seriousIssues()).toEqual([]);
    await visit.screenshot("graphiql-desktop");
  });

  it("shows a 401 for a key that is none, and a 429", async () => {
    await using visit = await store.open({ width: 390, colorScheme: "dark" });
    const { page } = visit;
    await page.goto("/graphiql");
    expect(await stateOf(page)).toContain("Enter an API key");
    await enterKey(page, "pets_live_nonsense");
    await expect.poll(() => stateOf(page)).toMatch(/^401 Unauthorized/);
    await enterKey(page, await store.issueKey({ perMinute: 50, perDay: 1 }));
    await expect.poll(() => stateOf(page)).toBe("200 OK, 0 of 1 requests left");
    await run(page);
    await expect.poll(() => stateOf(page)).toMatch(/^429 Too Many Requests/);
    expectNothingWrong(visit);
    expect(await visit.seriousIssues()).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await visit.screenshot("graphiql-phone-dark");
  });
});

async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Use this key" }).click();
}

async function run(page: Page): Promise<void> {
  await page.locator(".graphiql-execute-button").click();
}

async function stateOf(page: Page): Promise<string> {
  return (await page.locator("#answer-state").textContent()) ?? "";
}

async function resultOf(page: Page): Promise<string> {
  return (await page.locator(".result-window").textContent()) ?? "";
}

function expectNothingWrong({ errors, otherOrigins }: Visit): void {
  expect(errors).toEqual([]);
  expect(otherOrigins).toEqual([]);
}
