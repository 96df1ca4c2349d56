import { execFileSync } from "node:child_process";
import type { CustomLimits } from "@petstore/core";
import { startStandaloneStore } from "@petstore/harness/processes";
import { it as base } from "@petstore/harness/test-with-figures";
import { type IssueOptions, openStoreDatabase, type StoreDatabase } from "@petstore/test-store/store-database";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { standaloneMain } from "../programs.js";

/** One store and one browser for the tests of a file. */
interface StoreInBrowser {
  readonly origin: string;
  readonly browser: Browser;
  readonly database: StoreDatabase;
  /** A key of a new account: on the plan Free, or with limits of its own. */
  issueKey(customLimits?: CustomLimits, options?: Pick<IssueOptions, "expiresAt" | "scope">): Promise<string>;
}

type Visit = Awaited<ReturnType<typeof openVisit>>;

export const it = base.extend<{
  $file: { store: StoreInBrowser };
  /** Opens a window of this width on the store. When the test ends, the page in the window must have no fault. */
  $test: { open: (width: number) => Promise<Visit> };
}>({
  store: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from this pattern.
    async ({}, use) => {
      await using store = await startStandaloneStore(standaloneMain, quickBans);
      await using database = openStoreDatabase(store.databaseUrl);
      const executablePath = execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
      await using browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
      await use({
        origin: store.origin,
        browser,
        database,
        async issueKey(customLimits, options) {
          const plan = customLimits === undefined ? ({ plan: "free" } as const) : { customLimits };
          return (await database.issueKey({ ...plan, ...options })).key;
        },
      });
    },
    { scope: "file" },
  ],
  open: async ({ store }, use) => {
    const visits: Visit[] = [];
    await use(async (width) => {
      const visit = await openVisit(store, width);
      visits.push(visit);
      return visit;
    });
    for (const visit of visits) {
      await using _closed = visit;
      await visit.expectNoFault();
    }
  },
});

/** A second refusal bans a key. */
const quickBans = { BAN_STRIKES: "1", BAN_STRIKES_PER_UNIT: "0", BAN_GRACE_MS: "0" };

/** Not UTC, in which the pages show times. */
const timezoneId = "America/Los_Angeles";

/** Opens a browser window. Disposing closes it. */
async function openVisit({ browser, origin }: StoreInBrowser, width: number) {
  const context = await browser.newContext({ baseURL: origin, viewport: { width, height: 844 }, timezoneId });
  const page = await context.newPage();
  /** Errors of scripts, of the Content-Security-Policy and of loading. A refused API call and an unknown page are no errors. */
  const errors: string[] = [];
  const otherOrigins: string[] = [];
  let receivedBytes = 0;
  page.on("console", (message) => {
    const isAnswer =
      /\/(v1\/|graphql|rate_limit|usage\/history|unknown-page)/.test(message.location().url) &&
      /status of 4\d\d/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isAnswer) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && new URL(url).origin !== origin) otherOrigins.push(url);
  });
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  network.on("Network.loadingFinished", ({ encodedDataLength }) => {
    receivedBytes += encodedDataLength;
  });
  return {
    page,
    /** Bytes received over the network since the window was opened, headers included. */
    receivedBytes: () => receivedBytes,
    /**
     * Fails for an error, a request to another origin, a page wider than the window, or an issue that axe finds in light or
     * dark colours.
     */
    async expectNoFault() {
      expect(errors, page.url()).toEqual([]);
      expect(otherOrigins, page.url()).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth"), page.url()).toBeLessThanOrEqual(width);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await seriousIssues(page), `${page.url()}, ${colorScheme}`).toEqual([]);
      }
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Use this key" }).click();
}

async function seriousIssues(page: Page): Promise<readonly string[]> {
  // axe needs timers. A test that failed may have left the clock of the page standing, and then axe would never end.
  await page.clock.resume();
  // Not a script element: the policy of the page would refuse it.
  await page.evaluate(axe.source);
  const run = () => page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  // axe fails if the page replaces an element during the run.
  const { violations } = await run().catch(run).catch(run);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}
