// @module-tag chromium
// The code that the reference page shows runs as it is shown, before anything was sent.
import { missingPrograms, runCommands, runModule, runPython } from "@petstore/harness/processes";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { it } from "./it.js";

const languages = ["curl", "client", "fetch", ...(missingPrograms(["python3"]).length > 0 ? [] : ["python"])];

const hostile = {
  // Control characters cannot be in a name.
  name: `O'Neill "$(id)" \`id\` \${HOME} $API_KEY \\n \\ """ ''' %s %41 @x !! é 🐈\u2028`,
  // Printable ASCII.
  idempotencyKey: `k'e"y $HOME \`id\` \${x} \\ \\" %41 {}#& """`,
  cursor: `a'b"c &=+%41 $HOME \`id\` \${x} \\ é 🐈`,
};
const pet = { name: hostile.name, categoryId: "9007199254740993", status: "sold" };

describe("the samples of hostile values", () => {
  it("add, get and list the same pet in every language, with all digits", async ({ store, open }) => {
    const { page } = await open(1280);
    await page.goto("/");
    const key = await store.issueKey();
    const body = `{\n\t"name": ${JSON.stringify(hostile.name)},\n\n  "categoryId": ${pet.categoryId}, "status": "sold"\n}\n`;
    await fill(page, "createPet", { body, "Idempotency-Key": hostile.idempotencyKey });
    const created = await runSamples(page, "createPet", key);
    const [first] = created;
    expect(first).toMatchObject(pet);
    // The idempotency key arrived as it is, so no other sample has added a pet.
    expect(created).toEqual(created.map(() => first));

    const { id } = first as { readonly id: string };
    await fill(page, "getPet", { petId: id });
    expect(await runSamples(page, "getPet", key)).toEqual(languages.map(() => first));
    await fill(page, "listPets", { limit: "1", status: "sold" });
    expect(await runSamples(page, "listPets", key)).toEqual(languages.map(() => [first]));
  });

  it("fail in every language with the code of the error", async ({ store, open }) => {
    const { page } = await open(1280);
    await page.goto("/");
    const key = await store.issueKey();
    await fill(page, "listPets", { cursor: hostile.cursor });
    for (const language of languages) {
      expect(await outputOf(page, "listPets", language, key), language).toContain("INVALID_CURSOR");
    }
    // curl would read a file.
    await fill(page, "createPet", { body: "@/etc/hostname" });
    for (const language of languages.filter((name) => name !== "client")) {
      expect(await outputOf(page, "createPet", language, key), language).toContain("INVALID_JSON");
    }
  });
});

it("the samples of the rate limit call its own address", async ({ store, open }) => {
  const { page } = await open(1280);
  await page.goto("/");
  const key = await store.issueKey();
  for (const language of languages.filter((name) => name !== "client")) {
    expect(await outputOf(page, "getRateLimit", language, key), language).toContain(
      '{"plan":"free","minute":{"limit":60',
    );
  }
});

it("the language is chosen by keyboard for all samples, and is remembered", async ({ open }) => {
  const { page } = await open(1280);
  await page.goto("/");
  const tab = (operation: string, name: string) => page.locator(`#${operation}`).getByRole("tab", { name });
  expect(await tab("listPets", "curl").getAttribute("aria-selected")).toBe("true");
  await tab("listPets", "curl").focus();
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Python");
  expect(await tab("createPet", "Python").getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Tab");
  // The next stop is the copy button, not the next tab.
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Copy");
  await page.reload();
  expect(await tab("createPet", "fetch").getAttribute("aria-selected")).toBe("true");
  expect(await page.locator("#createPet").getByRole("tabpanel").textContent()).toContain("await fetch(");

  await page.goto("/docs/graphql/quickstart");
  expect(await page.getByRole("tabpanel").first().textContent()).toContain("await fetch(");
  await page.getByRole("tab", { name: "Python" }).first().click();
  await page.goto("/");
  expect(await page.locator("#getPet").getByRole("tabpanel").textContent()).toContain("urlopen");
});

it("Copy copies the sample that is shown", async ({ open }) => {
  const { page } = await open(390);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/");
  await fill(page, "createPet", { body: '{"name":"O\'Neill"}' });
  await page.locator("#createPet .samples").getByRole("button", { name: "Copy" }).click();
  await expect
    .poll(() => page.evaluate("navigator.clipboard.readText()"))
    .toBe(await codeOf(page, "createPet", "curl"));
});

/** Fills the fields of an operation, and empties all others. */
async function fill(page: Page, operation: string, values: Readonly<Record<string, string>>): Promise<void> {
  const form = page.locator(`#${operation} form`);
  await form.locator("details.further > summary").click();
  for (const field of await form.locator("[data-in]").all()) {
    const value = values[(await field.getAttribute("name")) ?? ""] ?? "";
    if ((await field.evaluate(({ tagName }) => tagName)) === "SELECT") await field.selectOption(value);
    else await field.fill(value);
  }
  await form.locator("details.further > summary").click();
}

async function codeOf(page: Page, operation: string, language: string): Promise<string> {
  return (await page.locator(`#${operation}-sample-${language}-code`).textContent()) ?? "";
}

/** The output of the sample, of the error if it fails. */
async function outputOf(page: Page, operation: string, language: string, key: string): Promise<string> {
  const code = await codeOf(page, operation, language);
  expect(code).not.toContain(key);
  // biome-ignore lint/style/noProcessEnv: the samples run curl, node and python3.
  const env = { PATH: process.env.PATH, API_KEY: key };
  try {
    if (language === "curl") return await runCommands(code, env);
    if (language === "python") return await runPython(code, env);
    return await runModule(code, env, new URL("../dist/", import.meta.url));
  } catch (error) {
    return String((error as { readonly stderr?: unknown }).stderr ?? error);
  }
}

/** The JSON that the sample of each language prints, with integers as text, as our client prints them. */
async function runSamples(page: Page, operation: string, key: string): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  for (const language of languages) {
    const output = await outputOf(page, operation, language, key);
    const json = /[[{].*[\]}]/s.exec(output.split("\r\n\r\n").at(-1) ?? "")?.[0] ?? "";
    values.push(JSON.parse(json.replace(/"(id|categoryId)":(-?\d+)/g, '"$1":"$2"')));
  }
  return values;
}
