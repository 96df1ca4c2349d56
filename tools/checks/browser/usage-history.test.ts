// @module-tag chromium

import type { IssuedKey, StoreDatabase } from "@petstore/test-store/store-database";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { enterKey, it } from "./it.js";

const free = { plan: "free" } as const;
const hours = "#history-hours";
const days = "#history-days";

/** The counts of a key in the hour that began `ago` hours before the present one. */
type Stored = readonly [key: IssuedKey, ago: number, admitted: number, refused: number, api?: "rest" | "graphql"];

async function store(database: StoreDatabase, stored: readonly Stored[]): Promise<void> {
  const rows = stored.map(
    ([{ keyId }, ago, admitted, refused, api = "rest"]) =>
      `(${keyId}, date_trunc('hour', now(), 'UTC') - ${ago} * interval '1 hour', '${api}', '', ${admitted}, ${refused})`,
  );
  await database.execute(
    `insert into usage_hours (key_id, hour, api, operation, admitted, refused) values ${rows.join(", ")}`,
  );
}

async function openUsage(page: Page, { key }: IssuedKey): Promise<void> {
  await page.goto("/usage");
  await enterKey(page, key);
  await page.locator(`${hours} .summary`).waitFor();
}

const textOf = (page: Page, selector: string) => page.locator(selector).textContent();

describe.each([
  ["a desktop", 1280],
  ["a phone", 390],
])("the charts of the usage page, on %s,", (_device, width) => {
  it("show the hours and days of each key, and what was refused", async ({ store: { database }, open }) => {
    const website = await database.issueKey(free);
    await database.execute(`update api_keys set name = 'website' where id = ${website.keyId}`);
    const mobile = await database.issueKey({ accountId: website.accountId });
    await store(database, [
      [website, 0, 300, 0],
      [website, 1, 200, 4],
      [website, 1, 50, 0, "graphql"],
      [mobile, 1, 100, 0],
      [mobile, 24 * 60, 30, 0],
    ]);
    const { page } = await open(width);
    await openUsage(page, website);
    expect(await textOf(page, `${hours} .summary`)).toBe("650 units used, 4 requests refused in the last 48 hours.");
    expect(await textOf(page, `${days} .summary`)).toMatch(
      /^680 units used, 4 requests refused in the last 90 days\. The busiest day used \d\d\u00a0% of the limit of 1,000 a day\.$/,
    );
    const labels = await page.locator("#history-legend li").allTextContents();
    expect(labels).toEqual([
      "website (this key)",
      expect.stringMatching(/^pets_live_\w+\.\.\.$/),
      "refused requests, of all keys",
    ]);
    expect(await page.locator(`${hours} .plot [class^=key-]`).count()).toBe(3);
    expect(await page.locator(`${hours} .plot .refused`).count()).toBe(1);
    // The day is at 30 % of its limit or more, and an hour has no limit.
    expect(await page.locator(".plot .limit").count()).toBe(1);
    expect(await page.locator(`${days} .plot .limit`).count()).toBe(1);
    await page.getByLabel("Hour", { exact: true }).press("ArrowLeft");
    expect(await textOf(page, `${hours} .picked`)).toMatch(
      /: 350 units used, 4 requests refused\. Used by website \(this key\): 250; pets_live_\w+\.\.\.: 100$/,
    );
  });

  it("name the numbers of each bar, by keyboard, and in a table", async ({ store: { database }, open }) => {
    const key = await database.issueKey(free);
    await store(database, [
      [key, 0, 1, 0],
      [key, 1, 2_000, 3],
    ]);
    const { page } = await open(width);
    await openUsage(page, key);
    const slider = page.getByLabel("Hour", { exact: true });
    await expect.poll(() => textOf(page, `${hours} .picked`)).toMatch(/ so far: 1 unit used, 0 requests refused$/);
    await slider.press("ArrowLeft");
    const text = await textOf(page, `${hours} .picked`);
    expect(text).toMatch(/^\d\d:00 to \d\d:00 UTC on \w+ \d+: 2,000 units used, 3 requests refused$/);
    expect(await slider.getAttribute("aria-valuetext")).toBe(text);
    await slider.press("Home");
    expect(await textOf(page, `${hours} .picked`)).toMatch(/: 0 units used, 0 requests refused$/);
    await page.locator(`${hours} summary`).click();
    await expect.poll(() => page.locator(`${hours} tbody tr`).count()).toBe(2);
    expect(await page.locator(`${hours} tbody tr`).last().textContent()).toMatch(
      /pets_live_\w+\.\.\. \(this key\), REST2,0003$/,
    );
  });

  it("show 5 of 12 keys apart and the others together", async ({ store: { database }, open }) => {
    const first = await database.issueKey(free);
    const { accountId } = first;
    const others = await Promise.all(Array.from({ length: 11 }, () => database.issueKey({ accountId })));
    await store(
      database,
      [first, ...others].map((key, index): Stored => [key, index % 4, 100 - index, 0]),
    );
    const { page } = await open(width);
    await openUsage(page, first);
    const labels = await page.locator("#history-legend li").allTextContents();
    expect(labels).toHaveLength(7);
    expect(labels[5]).toBe("other keys");
    await page.locator(`${hours} summary`).click();
    await expect.poll(() => page.locator(`${hours} tbody tr`).count()).toBe(12);
  });

  it("keep small bars visible beside a huge one", async ({ store: { database }, open }) => {
    const key = await database.issueKey({ customLimits: { perMinute: 1_000_000, perDay: 2_000_000 } });
    await store(database, [
      [key, 3, 1_234_567, 0],
      ...Array.from({ length: 20 }, (_, index): Stored => [key, 4 + index, 1, 1]),
    ]);
    const { page } = await open(width);
    await openUsage(page, key);
    const heights = await page
      .locator(`${hours} .plot .key-1, ${hours} .plot .refused`)
      .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("height"))));
    expect(heights).toHaveLength(41);
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(2);
  });

  it("say so if there was no request", async ({ store: { database }, open }) => {
    const { page } = await open(width);
    await openUsage(page, await database.issueKey(free));
    expect(await textOf(page, `${hours} .summary`)).toBe("No requests in the last 48 hours.");
    expect(await textOf(page, `${days} .summary`)).toBe("No requests in the last 90 days.");
    expect(await page.locator(".plot").first().isVisible()).toBe(false);
  });
});

it("the charts stay when they are refreshed twice in a second, and go with their key", async ({ store, open }) => {
  const { page } = await open(390);
  await openUsage(page, await store.database.issueKey(free));
  for (let click = 0; click < 2; click += 1) await page.getByRole("button", { name: "Refresh" }).click();
  expect(await page.locator(`${hours} .summary`).isVisible()).toBe(true);
  await enterKey(page, "unknown");
  await expect.poll(() => textOf(page, "#history-state")).toContain("API_KEY_INVALID");
  expect(await page.locator(`${hours} .summary`).isVisible()).toBe(false);
});

it("the charts appear without a click after a 429, which a reload within a second gets", async ({ store, open }) => {
  const { page } = await open(390);
  const body = {
    code: "RATE_LIMIT_EXCEEDED",
    message: "Each key can read the usage history once a second.",
    status: 429,
  };
  const refusal = { status: 429, headers: { "Retry-After": "1" }, json: body };
  await page.route("/usage/history", (route) => route.fulfill(refusal), { times: 1 });
  await openUsage(page, await store.database.issueKey(free));
  expect(await textOf(page, "#history-state")).toBe("");
});
