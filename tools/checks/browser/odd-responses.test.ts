// @module-tag chromium
// Responses that are late, or that a proxy has sent instead of the store.
import type { Page, Route } from "playwright-core";
import { describe, expect } from "vitest";
import { enterKey, it } from "./it.js";

const proxyPage = { status: 403, contentType: "text/html", body: '<p class="x y">Forbidden</p>' };

describe("the usage page", () => {
  it.for(["another key", "a newer refresh"])("ignores a late response after %s", async (change, { store, open }) => {
    const { page } = await open({ width: 390 });
    const window = { limit: 7, remaining: 7, reset: 1_795_204_620 };
    const json = { plan: "business", minute: window, day: window, bannedUntil: null };
    const first = holdFirstRequest(page, "/rate_limit", { json });
    await page.goto("/usage");
    await enterKey(page, await store.issueKey());
    if (change === "another key") await enterKey(page, await store.issueKey());
    else await page.getByRole("button", { name: "Refresh" }).click();
    const plan = page.locator("#usage-plan");
    await expect.poll(() => plan.textContent()).toContain("the Free plan");
    await first.respond();
    expect(await plan.textContent()).toContain("the Free plan");
  });

  it("says that a response is not from the pet store", async ({ open }) => {
    const { page } = await open({ width: 390 });
    const responses = [proxyPage, { status: 403, json: { message: "Forbidden" } }, { status: 403, json: null }];
    for (const response of [...responses, { status: 200, body: "<p>Sign in" }]) {
      await page.route("/rate_limit", (route) => route.fulfill(response));
      await page.goto("/usage");
      await enterKey(page, "pets_live_nonsense");
      const text = `The response with status ${response.status} is not from the pet store.`;
      await expect.poll(() => page.locator("#usage-state").textContent()).toBe(text);
    }
  });
});

it("the reference page sends one request for a double click, and shows a proxy's response unchanged", async ({
  open,
}) => {
  const { page } = await open({ width: 390 });
  let sent = 0;
  page.on("request", (request) => {
    if (request.method() === "POST") sent += 1;
  });
  const first = holdFirstRequest(page, "/v1/pets", proxyPage);
  await page.goto("/");
  await page.locator("#createPet").getByRole("button", { name: "Send" }).dblclick();
  await first.respond();
  const form = page.locator("#createPet form");
  await expect.poll(() => form.textContent()).toContain(`no X-RateLimit headers\n${proxyPage.body}`);
  expect(sent).toBe(1);
});

it("GraphiQL ignores a late response for a key that was removed", async ({ store, open }) => {
  const { page } = await open({ width: 390 });
  const first = holdFirstRequest(page, "/graphql", { json: { data: null } });
  await page.goto("/graphiql");
  await enterKey(page, await store.issueKey());
  await first.sent;
  await page.getByRole("button", { name: "Forget key" }).click();
  await first.respond();
  expect(await page.locator("#answer-state").textContent()).toBe("Enter an API key to load the schema.");
});

interface HeldRequest {
  /** Resolves when the page has sent the request. */
  readonly sent: Promise<unknown>;
  /** Resolves when the page has the response. Playwright ignores it if the page has cancelled the request. */
  respond(): Promise<void>;
}

/** Holds the first request to this path. */
function holdFirstRequest(page: Page, path: string, response: Parameters<Route["fulfill"]>[0]): HeldRequest {
  const held = new Promise<Route>((resolve) => void page.route(path, resolve, { times: 1 }));
  return {
    sent: held,
    async respond() {
      await (await held).fulfill(response);
      // The page receives this response after the late one.
      await page.evaluate(() => fetch("/livez"));
    },
  };
}
