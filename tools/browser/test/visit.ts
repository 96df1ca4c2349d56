import { setTimeout } from "node:timers/promises";
import type { CustomLimits } from "@petstore/core";
import { openStoreDatabase, type StoreDatabase } from "@petstore/test-store/store-database";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, inject } from "vitest";
import type {} from "./global-setup.js";

/** The tests of one file share this. */
export interface StoreInBrowser {
  readonly origin: string;
  /** A key of a new account: on the plan Free, or with limits of its own. */
  issueKey(customLimits?: CustomLimits): Promise<string>;
  /** Opens a window on the store. */
  open(options: VisitOptions): Promise<Visit>;
}

/** Skips the tests where there is no Chromium. The store is there when a test runs. */
export function describeInBrowser(name: string, suite: (store: StoreInBrowser) => void): void {
  const provided = inject("browser");
  describe.skipIf(provided === undefined)(name, () => {
    const { wsEndpoint, origin, databaseUrl } = provided ?? { wsEndpoint: "", origin: "", databaseUrl: "" };
    let database: StoreDatabase;
    let browser: Browser;
    beforeAll(async () => {
      database = openStoreDatabase(databaseUrl);
      browser = await chromium.connect(wsEndpoint);
    });
    afterAll(async () => {
      await browser?.close();
      await database?.[Symbol.asyncDispose]();
    });
    suite({
      origin,
      async issueKey(customLimits) {
        return (await database.issueKey(customLimits === undefined ? { plan: "free" } : { customLimits })).key;
      },
      open: (options) => openVisit(browser, origin, options),
    });
  });
}

interface VisitOptions {
  readonly width: number;
  readonly colorScheme?: "light" | "dark";
  /** For tests that compare the requests left: no new window of the limits may begin in the middle. */
  readonly withinOneMinute?: boolean;
}

/** A browser window, and a record of what a page must not do. Disposing closes it. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts, of the Content-Security-Policy and of loading; a refused API call is not an error. */
  readonly errors: readonly string[];
  /** URLs of other origins that the page requested. */
  readonly otherOrigins: readonly string[];
  /** Bytes received over the network since the window was opened, headers included. */
  readonly receivedBytes: () => number;
  /** The serious and critical issues that axe finds. */
  seriousIssues(): Promise<readonly string[]>;
  /** Written to the folder `screenshots`, which git ignores. */
  screenshot(name: string): Promise<void>;
}

/** Waits for the next minute if less than `seconds` of this one are left. */
async function leaveSeconds(seconds: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < seconds * 1_000) await setTimeout(leftMs + 200);
}

async function openVisit(
  browser: Browser,
  origin: string,
  { width, colorScheme = "light", withinOneMinute = false }: VisitOptions,
): Promise<Visit> {
  if (withinOneMinute) await leaveSeconds(20);
  const context = await browser.newContext({ baseURL: origin, viewport: { width, height: 844 }, colorScheme });
  const page = await context.newPage();
  const errors: string[] = [];
  const otherOrigins: string[] = [];
  let receivedBytes = 0;
  page.on("console", (message) => {
    const isAnswer = /\/(v1\/|graphql)/.test(message.location().url) && /status of 4\d\d/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isAnswer) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
      otherOrigins.push(request.url());
  });
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  network.on("Network.loadingFinished", ({ encodedDataLength }) => {
    receivedBytes += encodedDataLength;
  });
  return {
    page,
    errors,
    otherOrigins,
    receivedBytes: () => receivedBytes,
    async seriousIssues() {
      // Not a script element: the policy of the page would, rightly, refuse it.
      await page.evaluate(axe.source);
      const run = () => page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
      // axe fails if the page replaces an element during the run.
      const { violations } = await run().catch(run).catch(run);
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
    },
    async screenshot(name) {
      await page.screenshot({ path: new URL(`../screenshots/${name}.png`, import.meta.url).pathname, fullPage: true });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
