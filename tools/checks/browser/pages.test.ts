// @module-tag chromium
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { withinOneMinute } from "../conformance/running-store.js";
import { enterKey, it } from "./it.js";

/** Limited by the day, because the minute may end during a test. Responses show the window with the fewest units left. */
const sixtyADay = { perMinute: 1_000, perDay: 60 };
/** The pages link to the guides of both APIs. */
const guides = ["quickstart", "graphql/quickstart", "limits", "rehearsal", "get-pet-removal", "errors"];

it("every page fits a phone, and has no fault", async ({ open, figures }) => {
  const paths = await linkedPages(await open(1280));
  expect(paths).toEqual(
    expect.arrayContaining(["/", "/docs", "/usage", "/graphiql", ...guides.map((name) => `/docs/${name}`)]),
  );
  for (const path of [...paths, "/unknown-page"]) {
    const { page, receivedBytes } = await open(390);
    await page.goto(path, { waitUntil: "networkidle" });
    // The editor is larger.
    if (path !== "/graphiql") figures.atMost(40, path, receivedBytes() / 1_024, "KiB");
  }
});

it("the page of the error codes has an address for each code", async ({ open }) => {
  const { page } = await open(1280);
  await page.goto("/docs/errors#RATE_LIMIT_EXCEEDED");
  expect(await page.locator("tr:has(:target)").textContent()).toContain("Wait for Retry-After");
});

describe("the reference page", () => {
  it("runs every operation with the key that was entered once, and shows refusals", async ({ store, open }) => {
    const { page } = await open(390);
    await page.goto("/");
    // As it is written in the Authorization header.
    await enterKey(page, `Bearer ${await store.issueKey(sixtyADay)}`);
    await press(page, "createPet", "Rex");
    expect(await answerOf(page, "createPet")).toMatch(/^201 Created in \d+ ms, 59 of 60 requests left/s);
    await press(page, "createPet", "An identifier beyond 2^53");
    expect(await answerOf(page, "createPet")).toContain('"categoryId": 9007199254740993,');
    await press(page, "createPet", "With an Idempotency-Key");
    await press(page, "createPet", "With an Idempotency-Key");
    expect(await answerOf(page, "createPet")).toMatch(/idempotency-replayed\s*true/s);
    await press(page, "listPets", "First two available pets");
    expect(await answerOf(page, "listPets")).toMatch(/200 OK.*"name": "Rex".*x-ratelimit-reset\s*\d{10}/s);
    await page.locator("#listPets .answer > button").click();
    await expect.poll(() => answerOf(page, "listPets")).toContain('"name": "Ina"');
    await press(page, "getPet", "The first pet");
    expect(await answerOf(page, "getPet")).toMatch(/200 OK.*sunset\s*Thu, 05 Dec 2030 00:00:00 GMT/s);
    // Seven calls cost seven units: the page and its files cost nothing.
    expect(await answerOf(page, "getPet")).toContain("53 of 60 requests left");
    await press(page, "listPets", "Without a key (401)");
    expect(await answerOf(page, "listPets")).toMatch(/401 Unauthorized.*API_KEY_MISSING.*www-authenticate/s);
    await press(page, "listPets", "Limit 0 (400)");
    expect(await answerOf(page, "listPets")).toMatch(/400 Bad Request.*VALIDATION_FAILED/s);
    await press(page, "getPet", "An unknown pet (404)");
    expect(await answerOf(page, "getPet")).toMatch(/404 Not Found.*PET_NOT_FOUND/s);
    const code = page.locator("#getPet .status a");
    expect(await code.getAttribute("href")).toBe("/docs/errors#PET_NOT_FOUND");
    await press(page, "getRateLimit", "What is left");
    expect(await answerOf(page, "getRateLimit")).toMatch(/200 OK.*"remaining": 51,/s);
    await page.locator("#listPets details", { hasText: "Status and code" }).locator("> summary").click();
  });

  it("never shows the key, and forgets it on request", async ({ store, open }) => {
    const { page } = await open(1280);
    await page.goto("/");
    const key = await store.issueKey();
    await enterKey(page, key);
    await press(page, "createPet", "Rex");
    await page.goto("/usage");
    await page.goto("/");
    await press(page, "listPets", "First two available pets");
    expect(await page.locator("#listPets .samples").textContent()).toContain('"Authorization: Bearer $API_KEY"');
    expect(await page.content()).not.toContain(key);
    expect(page.url()).not.toContain(key);
    await page.getByRole("button", { name: "Forget key" }).click();
    await press(page, "listPets", "First two available pets");
    expect(await answerOf(page, "listPets")).toContain("API_KEY_MISSING");
    await page.reload();
    expect(await page.getByLabel("API key").inputValue()).toBe("");

    await enterKey(page, key);
    // After a step back. Playwright turns off the cache from which browsers restore pages.
    await page.evaluate("sessionStorage.clear()");
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
    expect(await page.getByLabel("API key").inputValue()).toBe("");
  });
});

it("a double click on the button that uses a key keeps the key", async ({ store, open }) => {
  const { page } = await open(1280);
  await page.goto("/usage");
  const key = await store.issueKey();
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Use this key" }).dblclick();
  expect(await page.getByLabel("API key").inputValue()).toBe(key);
});

describe("the usage page", () => {
  it("shows the plan and both windows, and costs nothing", ({ store, open }) =>
    withinOneMinute(async () => {
      const { page } = await open(1280);
      await page.goto("/");
      const key = await store.issueKey();
      await enterKey(page, key);
      await page.getByRole("link", { name: "Usage", exact: true }).click();
      await expect.poll(() => readings(page)).toEqual([60, 1_000]);
      expect(await page.locator("#usage-plan").textContent()).toBe(
        "You have the Free plan: 60 requests a minute, 1,000 a day.",
      );
      for (const window of ["minute", "day"]) {
        const reset = await page.locator(`#gauge-${window} .reset`).textContent();
        // The date is there if it is not that of today.
        expect(reset).toMatch(/^resets at \d\d:\d\d:00 UTC( on \w+ \d+)? \(\d\d:\d\d:00 P[DS]T( on \w+ \d+)?\), in \d/);
      }
      await listPets(page, key);
      // The service repeats its answer for a second.
      const refreshed = async () => {
        await page.getByRole("button", { name: "Refresh" }).click();
        return readings(page);
      };
      await expect.poll(refreshed).toEqual([59, 999]);
    }));

  const moment =
    "\\d\\d:\\d\\d:\\d\\d UTC( on \\w+ \\d+)? \\(\\d\\d:\\d\\d:\\d\\d P[DS]T( on \\w+ \\d+)?\\), in \\d+\\s(seconds?|h \\d+\\smin|minutes)\\.";
  const staysWithin = "/docs/limits#how-a-client-stays-within-the-limits";

  it.for([
    {
      state: "free",
      limits: { perMinute: 10, perDay: 1_000 },
      calls: 7,
      meters: [3, 993],
      notices: [/^This key can send requests\.$/],
      links: [],
    },
    {
      state: "near the end of both limits",
      limits: { perMinute: 10, perDay: 10 },
      calls: 8,
      meters: [2, 2],
      notices: [
        new RegExp(`^At least 80\\s% of the requests of this day are used\\. The limit resets at ${moment}`),
        new RegExp(`^At least 80\\s% of the requests of this minute are used\\. The limit resets at ${moment}`),
      ],
      links: [staysWithin, staysWithin],
    },
    {
      state: "used up for the minute",
      limits: { perMinute: 2, perDay: 1_000 },
      calls: 2,
      meters: [0, 998],
      notices: [
        new RegExp(`^The requests of this minute are used up until ${moment} Requests get 429 RATE_LIMIT_EXCEEDED`),
      ],
      links: ["/docs/errors#RATE_LIMIT_EXCEEDED", staysWithin],
    },
    {
      state: "used up for the day, so that the bar of the minute is empty too",
      limits: { perMinute: 50, perDay: 2 },
      calls: 2,
      meters: [0, 0],
      notices: [new RegExp(`^The requests of this day are used up until ${moment} Until then, requests of all keys`)],
      links: ["/docs/errors#DAILY_QUOTA_EXCEEDED", "/docs/limits"],
    },
    {
      state: "banned",
      limits: { perMinute: 1, perDay: 50 },
      calls: 4,
      meters: [0, 49],
      notices: [new RegExp(`^This key is banned until ${moment} It continued to send requests after 429 responses`)],
      links: ["/docs/errors#API_KEY_BANNED", "/docs/limits#bans"],
    },
  ])(
    "says what to do and until when, for a key that is $state",
    ({ limits, calls, meters, notices, links }, { store, open }) =>
      withinOneMinute(async () => {
        const { page } = await open(390);
        const key = await store.issueKey(limits);
        for (let call = 0; call < calls; call += 1) await listPets(page, key);
        await page.goto("/usage");
        await enterKey(page, key);
        await expect.poll(() => readings(page)).toEqual(meters);
        const shown = await page.locator("#usage-state p").allTextContents();
        expect(shown).toEqual(notices.map((notice) => expect.stringMatching(notice)));
        const targets = await page
          .locator("#usage-state a")
          .evaluateAll((all) => all.map((to) => to.getAttribute("href")));
        expect(targets).toEqual(links);
      }),
  );

  it("loads the limits again when a minute has ended, before the next refresh", async ({ store, open }) => {
    const { page } = await open(390);
    // In the page, time passes only in `runFor`.
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
    // The service answers as if the minute ended in 3 s.
    await page.route("/rate_limit", async (route) => {
      const response = await route.fetch();
      const { minute } = (await response.json()) as { minute: { reset: number } };
      const date = new Date(1_000 * (minute.reset - 3)).toUTCString();
      await route.fulfill({ response, headers: { ...response.headers(), date } });
    });
    await page.goto("/usage");
    await enterKey(page, await store.issueKey());
    await expect.poll(() => page.locator("#gauge-minute .reset").textContent()).toMatch(/in 3\sseconds$/);
    const loading = page.waitForRequest("/rate_limit").then(
      () => true,
      () => false,
    );
    await page.clock.runFor(5_000);
    const isLoaded = await loading;
    // The search for faults, after every test, needs timers.
    await page.clock.resume();
    expect(isLoaded).toBe(true);
  });

  it.for([
    ["20 days", 20, true],
    ["31 days", 31, false],
  ] as const)(
    "says which key it is and when it ends, and warns if that is within 30 days: %s",
    async ([_left, days, isNear], { store, open }) => {
      const { page } = await open(390);
      const expiresAt = new Date(Date.now() + days * 86_400_000);
      const key = await store.issueKey(undefined, { scope: "read", expiresAt });
      await page.goto("/usage");
      await enterKey(page, key);
      const time = "\\d\\d:\\d\\d:\\d\\d";
      const end = `ends on \\w+ \\d+, \\d{4}, ${time} UTC \\((\\w+ \\d+, \\d{4}, )?${time} P[DS]T\\)`;
      const facts = new RegExp(
        `^Key ${key.slice(0, 18)} of the account account \\w+\\. It can list pets\\. It ${end}\\.$`,
      );
      await expect.poll(() => page.locator("#usage-key").textContent()).toMatch(facts);
      const warning = new RegExp(
        `^This key ${end}, in \\d+\\sdays \\d+\\sh\\. After that, requests get 401 API_KEY_EXPIRED\\.`,
      );
      const notices = ["This key can send requests.", ...(isNear ? [expect.stringMatching(warning)] : [])];
      expect(await page.locator("#usage-state p").allTextContents()).toEqual(notices);
    },
  );

  it("links the error of a key that is refused to its explanation", async ({ open }) => {
    const { page } = await open(390);
    await page.goto("/usage");
    await enterKey(page, "unknown");
    const code = page.locator("#usage-state a");
    expect(await code.textContent()).toBe("API_KEY_INVALID");
    expect(await code.getAttribute("href")).toBe("/docs/errors#API_KEY_INVALID");
  });
});

it("GraphiQL runs the ready queries with the key of another page, and shows headers", async ({ store, open }) => {
  const { page } = await open(1280);
  await page.goto("/");
  await enterKey(page, await store.issueKey(sixtyADay));
  await page.getByRole("link", { name: "GraphiQL" }).click();
  await expect.poll(() => stateOf(page)).toBe("200 OK, 59 of 60 requests left");
  const result = page.locator(".result-window");
  // The editor uses the width of the window.
  expect((await page.locator("#graphiql").boundingBox())?.width).toBeGreaterThan(1_200);
  await page.locator(".graphiql-tab").nth(1).click();
  await page.locator(".graphiql-execute-button").click();
  await expect.poll(() => result.textContent()).toContain("9223372036854775807");
  await page.locator(".graphiql-tab").nth(0).click();
  await page.locator(".graphiql-execute-button").click();
  await expect.poll(() => result.textContent()).toContain("petsConnection");
  await expect.poll(() => stateOf(page)).toBe("200 OK, 57 of 60 requests left");
  await page.getByText("Headers of the last response").click();
  expect(await page.locator("#answer-headers").textContent()).toMatch(/x-ratelimit-reset\s*\d{10}/);
});

it("GraphiQL shows that a request without a valid key uses the quota of the address", async ({ open }) => {
  const { page } = await open(1280);
  await page.goto("/graphiql");
  await enterKey(page, "unknown");
  const words = /^401 Unauthorized, your address has \d+ of 300 requests without a valid key left$/;
  await expect.poll(() => stateOf(page)).toMatch(words);
});

/** Spends one unit. Not with `fetch` in the page, where a refusal counts as a fault of the page. */
async function listPets(page: Page, key: string): Promise<number> {
  const response = await page.request.get("/v1/pets?limit=1", { headers: { authorization: `Bearer ${key}` } });
  return response.status();
}

/** Presses a button of an operation and waits for its response. */
async function press(page: Page, operation: string, name: string): Promise<void> {
  const answered = page.waitForResponse((response) => /\/(v1\/|rate_limit)/.test(response.url()));
  await page.locator(`#${operation}`).getByRole("button", { name, exact: true }).click();
  await answered;
  await page.locator(`#${operation} form:not([aria-busy]) .answer`).waitFor();
}

async function answerOf(page: Page, operation: string): Promise<string> {
  const texts = await page.locator(`#${operation} :is([role=status], .answer)`).allTextContents();
  return texts.join("");
}

/** The state of the last request of GraphiQL. */
async function stateOf(page: Page): Promise<string> {
  return (await page.locator("#answer-state").textContent()) ?? "";
}

/** The values of the two meters. */
async function readings(page: Page): Promise<number[]> {
  const meters = await page.getByRole("meter").all();
  return Promise.all(meters.map(async (meter) => Number(await meter.getAttribute("value"))));
}

/** The first page and every page that it links to. */
async function linkedPages({ page }: { readonly page: Page }): Promise<string[]> {
  await page.goto("/");
  const links = await page.locator("a[href^='/']").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  // The places of a page, such as each error code, are on the same page.
  const paths = new Set(links.map((link) => link?.split("#", 1)[0] ?? "/"));
  return [...paths].filter((path) => !/\.(graphql|json|yaml|md|tgz|txt)$|^\/\.well-known\//.test(path));
}
