import { afterAll, expect, it } from "vitest";
import { describeInBrowser } from "./visit.js";

/** The pages link to the guides of both APIs. */
const guides = ["quickstart", "graphql/quickstart", "limits", "get-pet-removal", "errors"].map(
  (name) => `/docs/${name}`,
);

describeInBrowser("every page", (store) => {
  const measured: string[] = [];
  afterAll(() => {
    process.stdout.write(`\npage, received\n${measured.join("\n")}\n`);
  });

  it("loads without an error or another origin, fits a phone, and passes axe in light and dark", {
    timeout: 300_000,
  }, async () => {
    const paths = await linkedPages();
    expect(paths).toEqual(expect.arrayContaining(["/", "/usage", "/graphiql", ...guides]));
    for (const path of paths) {
      await using visit = await store.open({ width: 390 });
      const { page } = visit;
      await page.goto(path, { waitUntil: "networkidle" });
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(390);
      const receivedKib = visit.receivedBytes() / 1_024;
      measured.push(`${path}, ${receivedKib.toFixed(1)} KiB`);
      if (!path.startsWith("/graphiql")) expect(receivedKib, path).toBeLessThan(40);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await visit.seriousIssues(), `${path}, ${colorScheme}`).toEqual([]);
        await visit.screenshot(`page${path.replaceAll("/", "-")}-${colorScheme}`);
      }
      expect(visit.errors, path).toEqual([]);
      expect(visit.otherOrigins, path).toEqual([]);
    }
  });

  it("needs no key and costs nothing", async () => {
    const left = async (path: string) => (await fetch(`${store.origin}${path}`)).headers.get("x-ratelimit-remaining");
    const before = await left("/openapi.json");
    for (const path of await linkedPages()) expect(await left(path), path).toBe(before);
  });

  it("can be read and followed with the keyboard alone", async () => {
    await using visit = await store.open({ width: 1280 });
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
    await using visit = await store.open({ width: 1280 });
    await visit.page.goto("/");
    const links = await visit.page
      .locator("a[href^='/']")
      .evaluateAll((all) => all.map((a) => a.getAttribute("href") ?? ""));
    return [...new Set(links)].filter((path) => !/\.(json|yaml|md)$/.test(path));
  }
});
