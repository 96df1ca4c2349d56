import { afterAll, expect, it } from "vitest";
import { describeInBrowser } from "./visit.js";

/** Of both APIs: whoever reads one is led to all. */
const guides = ["quickstart", "graphql/quickstart", "limits", "get-pet-removal", "errors"].map(
  (name) => `/docs/${name}`,
);

describeInBrowser("every page", (scene) => {
  const measured: string[] = [];
  afterAll(() => {
    process.stdout.write(`\npage, received, interactive after\n${measured.join("\n")}\n`);
  });

  it.each(["light", "dark"] as const)(
    "loads without a complaint or a stranger, reads on a phone, and passes axe in %s",
    { timeout: 120_000 },
    async (colorScheme) => {
      const paths = await linkedPages();
      expect(paths).toEqual(expect.arrayContaining(["/", "/usage", "/graphiql", ...guides]));
      for (const path of paths) {
        await using visit = await scene.open({ width: 390, colorScheme });
        const { page } = visit;
        await page.goto(path, { waitUntil: "networkidle" });
        expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
        const interactiveMs = await page.evaluate(() => {
          const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
          return navigation?.domContentLoadedEventEnd ?? Number.NaN;
        });
        const receivedKib = visit.receivedBytes() / 1_024;
        measured.push(`${path} (${colorScheme}), ${receivedKib.toFixed(1)} KiB, ${interactiveMs.toFixed(0)} ms`);
        if (!path.startsWith("/graphiql")) expect(receivedKib, path).toBeLessThan(40);
        expect(await visit.seriousIssues(), path).toEqual([]);
        expect(visit.complaints, path).toEqual([]);
        expect(visit.strangers, path).toEqual([]);
        await visit.screenshot(`page${path.replaceAll("/", "-")}-${colorScheme}`);
      }
    },
  );

  it("needs no key and costs nothing", async () => {
    const left = async (path: string) =>
      (await fetch(`${scene.store.origin}${path}`)).headers.get("x-ratelimit-remaining");
    const before = await left("/openapi.json");
    for (const path of await linkedPages()) expect(await left(path), path).toBe(before);
  });

  it("can be read and followed with the keyboard alone", async () => {
    await using visit = await scene.open({ width: 1280 });
    const { page } = visit;
    await page.goto("/");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
    await page.getByLabel("API key").focus();
    await page.keyboard.type("pets_live_nonsense");
    await page.keyboard.press("Enter");
    await page.locator("#getPet").getByLabel("petId").fill("1");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("#getPet .answer").textContent()).toContain("API_KEY_INVALID");
  });

  /** Every page that is linked from the first one, and the first one. */
  async function linkedPages(): Promise<string[]> {
    await using visit = await scene.open({ width: 1280 });
    await visit.page.goto("/");
    const links = await visit.page
      .locator("a[href^='/']")
      .evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
    return [...new Set(links)].filter((path) => !/\.(json|yaml|md)$/.test(path));
  }
});
