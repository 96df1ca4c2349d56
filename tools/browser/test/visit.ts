import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { type RunningStore, startStore } from "./running-store.js";

/** Debian's, or the one CHROMIUM names. Nothing is downloaded. */
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** What the tests of one file share. */
export interface Scene {
  readonly store: RunningStore;
  /** Opens a window on the store. */
  open(options: VisitOptions): Promise<Visit>;
}

/** Says that the tests are skipped where there is no Chromium. The scene is there once a test runs. */
export function describeInBrowser(name: string, suite: (scene: Scene) => void): void {
  describe.skipIf(!existsSync(executablePath))(name, () => {
    let store: RunningStore;
    let browser: Browser;
    beforeAll(async () => {
      [store, browser] = await Promise.all([startStore(), launchBrowser()]);
    });
    afterAll(async () => {
      await browser?.close();
      await store?.[Symbol.asyncDispose]();
    });
    suite({
      get store() {
        return store;
      },
      open: (options) => openVisit(browser, store.origin, options),
    });
  });
}

function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

interface VisitOptions {
  readonly width: number;
  readonly colorScheme?: "light" | "dark";
  /** Where what is left is compared: a window of the limits must not begin anew in the middle. */
  readonly withinOneMinute?: boolean;
}

/** One person's browser window, and everything it did that a page must not do. Disposing closes it. */
export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts, of the Content-Security-Policy, and of what could not be loaded; refused calls are answers. */
  readonly complaints: readonly string[];
  /** Addresses of other origins that were asked for. */
  readonly strangers: readonly string[];
  /** What came over the network since the window was opened, headers included. */
  readonly receivedBytes: () => number;
  /** What axe finds that is serious or critical, but for the rules that are known not to be kept there. */
  seriousIssues(knownRules?: readonly string[]): Promise<readonly string[]>;
  /** Written to the folder `screenshots`, which git ignores. */
  screenshot(name: string): Promise<void>;
}

/** Waits for the next minute where less than that is left of this one. */
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
  const complaints: string[] = [];
  const strangers: string[] = [];
  let receivedBytes = 0;
  page.on("console", (message) => {
    const isAnswer = /\/(v1\/|graphql)/.test(message.location().url) && /status of 4\d\d/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isAnswer) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) strangers.push(request.url());
  });
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  network.on("Network.loadingFinished", ({ encodedDataLength }) => {
    receivedBytes += encodedDataLength;
  });
  return {
    page,
    complaints,
    strangers,
    receivedBytes: () => receivedBytes,
    async seriousIssues(knownRules = []) {
      // Not a script element: the policy of the page would, rightly, refuse it.
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
      return violations
        .filter(({ id, impact }) => (impact === "serious" || impact === "critical") && !knownRules.includes(id))
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
    },
    async screenshot(name) {
      await page.screenshot({ path: new URL(`../screenshots/${name}.png`, import.meta.url).pathname, fullPage: true });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
