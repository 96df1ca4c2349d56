// The pages of a list and their links. tools/checks/conformance/contract tests cursors.
import { afterAll, describe, expect, it } from "vitest";
import { type Answer, openTestStore, type TestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const statuses = ["available", "pending", "sold"] as const;
for (let count = 0; count < 47; count++) await add(store, key, statuses[count % 3]);

describe("the pages of a list", () => {
  it.each([
    ["without a filter", "/v1/pets", 47],
    ["one by one", "/v1/pets?limit=1", 47],
    ["in pages that end exactly with the list", "/v1/pets?status=pending&limit=8", 16],
    ["with a filter", "/v1/pets?limit=5&status=sold", 15],
  ])("contain every pet once in ascending order of id, following rel=next %s", async (_how, path, count) => {
    const ids = (await allPages(path)).flatMap(idsOf);
    expect(ids).toHaveLength(count);
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  });

  it("do not repeat or skip a pet if pets are added between two pages", async () => {
    const before = (await allPages("/v1/pets?limit=10")).flatMap(idsOf);
    const during: number[] = [];
    const addOne = async () => {
      // More pets than one page has, but a limited number.
      if (during.length < 30) during.push(await add(store, key, "sold"), await add(store, key, "sold"));
    };
    const ids = (await allPages("/v1/pets?limit=10", addOne)).flatMap(idsOf);
    expect(ids).toEqual([...before, ...during]);
  });

  it("have a Link with rel=next only if another page exists", async () => {
    const pages = await allPages("/v1/pets?limit=8&status=pending");
    expect(pages.map(({ headers }) => headers.link !== undefined)).toEqual([true, false]);
  });

  it("have an array as the body, also for an empty list", async () => {
    await using empty = await openTestStore();
    const { key: emptyKey } = await empty.issueKey();
    const answer = await empty.call("GET", "/v1/pets", { key: emptyKey });
    expect(answer).toMatchObject({ status: 200, text: "[]" });
    expect(answer.headers.link).toBeUndefined();
  });
});

describe("the URLs in Link", () => {
  const liar = { Host: "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher" };

  it("are relative by default", async () => {
    const { headers } = await store.call("GET", "/v1/pets?status=sold&limit=1", { key, headers: liar });
    expect(headers.link).toMatch(/^<\/v1\/pets\?status=sold&limit=1&cursor=[\w-]+>; rel="next"$/);
  });

  it("start with PUBLIC_URL if it is set, never with the Host header", async () => {
    await using published = await openTestStore({ environment: { PUBLIC_URL: "https://pets.example/" } });
    const { key: publishedKey } = await published.issueKey();
    await add(published, publishedKey, "sold");
    await add(published, publishedKey, "sold");
    const one = await published.call("GET", "/v1/pets?limit=1", { key: publishedKey, headers: liar });
    expect(one.headers.link).toMatch(/^<https:\/\/pets\.example\/v1\/pets\?limit=1&cursor=[\w-]+>; rel="next"$/);
    const deprecated = await published.call("GET", "/v1/pets/1", { key: publishedKey, headers: liar });
    expect(deprecated.headers.link).toBe(
      '<https://pets.example/docs/get-pet-removal.md>; rel="deprecation"; type="text/markdown", ' +
        '<https://pets.example/v1/pets>; rel="successor-version"',
    );
  });
});

/** Every page of a list; `between` happens before each further one. */
async function allPages(first: string, between: () => Promise<void> = async () => {}): Promise<Answer[]> {
  const pages = [await store.call("GET", first, { key })];
  for (let next = nextOf(pages[0]); next !== undefined; next = nextOf(pages.at(-1))) {
    await between();
    pages.push(await store.call("GET", next, { key }));
  }
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
  return pages;
}

function nextOf(answer: Answer | undefined): string | undefined {
  return /<([^>]*)>; rel="next"/.exec(answer?.headers.link ?? "")?.[1];
}

function idsOf({ json }: Answer): number[] {
  return (json as { id: number }[]).map(({ id }) => id);
}

async function add(to: TestStore, withKey: string, status = "available"): Promise<number> {
  const body = JSON.stringify({ name: "Ada", categoryId: 1, status });
  const { json } = await to.call("POST", "/v1/pets", { key: withKey, body });
  return (json as { id: number }).id;
}
