import type { Request } from "playwright-core";
import { expect } from "vitest";
import { it } from "./it.js";

it("the usage page ignores a late response for a key that was replaced", { tags: ["chromium"] }, async ({
  store,
  open,
}) => {
  const { page } = await open({ width: 390 });
  const first = await store.issueKey({ perMinute: 7, perDay: 8 });
  const isForFirst = (request: Request) => request.headers().authorization === `Bearer ${first}`;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("/rate_limit", async (route) => {
    if (isForFirst(route.request())) await released;
    await route.continue();
  });
  await page.goto("/usage");
  for (const key of [first, await store.issueKey()]) {
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Use this key" }).click();
  }
  const plan = page.locator("#usage-plan");
  await expect.poll(() => plan.textContent()).toContain("the Free plan");
  const late = page.waitForResponse((response) => isForFirst(response.request()));
  release();
  await (await late).finished();
  // The page receives this response after the late one.
  await page.evaluate(() => fetch("/livez"));
  expect(await plan.textContent()).toContain("the Free plan");
});
