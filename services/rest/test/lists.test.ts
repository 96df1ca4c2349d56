// The query, the pages and the links of a list. tools/checks/conformance/contract tests values and cursors.
import { describe, expect, it } from "vitest";
import { type Answer, openSharedStore, openTestStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

const list = (query: string) => store.call("GET", `/v1/pets${query}`, { key });
const statuses = ["available", "pending", "sold"] as const;
for (let count = 0; count < 47; count++) await add(statuses[count % 3]);

describe("the query", () => {
  it.each(["?", "?&", "?limit=1&", "?&&limit=1", "?limit=%31%30", "?status=%73old"])("may be %s", async (query) => {
    expect((await list(query)).status).toBe(200);
  });

  it.each([
    ["limit", "limit must be an integer from 1 to 100"],
    ["limit=1&limit=1", "limit must be an integer from 1 to 100"],
    ["limit=+5", "limit must be an integer from 1 to 100"],
    ["status=sold&status=sold", "status must be one of available, pending, sold"],
    ["status=%FF", "status must be one of available, pending, sold"],
    ["cursor=a&cursor=a", "cursor must be given once"],
    ...["offset", "Limit", "__proto__", "toString"].map((name) => [
      `${name}=1`,
      `${name} is unknown; query parameter must be limit, status or cursor`,
    ]),
    ...["limit%20=1", "limit[]=1", "status[eq]=sold", "=1"].map((query) => [
      query,
      "query parameter must be limit, status or cursor",
    ]),
  ])("may not be ?%s", async (query, message) => {
    expect(await list(`?${query}`)).toMatchObject({ status: 400, json: { code: "VALIDATION_FAILED", message } });
  });

  it.each(["api_key", "access_token"])("may not contain the key as %s", async (name) => {
    const answer = await store.call("GET", `/v1/pets?${name}=${key}`);
    expect(answer).toMatchObject({ status: 401, json: { code: "API_KEY_MISSING" } });
  });
});

describe("the pages of a list", () => {
  it.each([
    ["without a filter", "", 47, 3],
    ["one by one", "?limit=1", 47, 47],
    ["in pages that end exactly with the list", "?status=pending&limit=8", 16, 2],
    ["with a filter", "?limit=5&status=sold", 15, 3],
  ])("contain every pet once in ascending order of id, following rel=next to the last page %s", async (...row) => {
    const [_how, query, count, pageCount] = row;
    const pages = await allPages(query);
    const ids = pages.flatMap(idsOf);
    expect([ids.length, pages.length]).toEqual([count, pageCount]);
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  });

  it("do not repeat or skip a pet if pets are added between two pages", async () => {
    const before = (await allPages("?limit=10")).flatMap(idsOf);
    const during: number[] = [];
    const addTwo = async () => {
      // More pets than one page has, but a limited number.
      if (during.length < 30) during.push(await add("sold"), await add("sold"));
    };
    expect((await allPages("?limit=10", addTwo)).flatMap(idsOf)).toEqual([...before, ...during]);
  });
});

describe("the URLs in Link", () => {
  const headers = { Host: "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher" };

  it("are relative by default", async () => {
    const { link } = (await store.call("GET", "/v1/pets?status=sold&limit=1", { key, headers })).headers;
    expect(link).toMatch(/^<\/v1\/pets\?status=sold&limit=1&cursor=[\w-]+>; rel="next"$/);
  });

  it("start with PUBLIC_URL if it is set, never with the Host header", async () => {
    await using published = await openTestStore({ PUBLIC_URL: "https://pets.example/" });
    const caller = await published.issueKey();
    expect(await published.call("GET", "/v1/pets", caller)).toMatchObject({ status: 200, text: "[]" });
    await published.execute("insert into pets (name, category_id, status) values ('a', 1, 'sold'), ('b', 1, 'sold')");
    const linkOf = async (path: string) => (await published.call("GET", path, { ...caller, headers })).headers.link;
    expect(await linkOf("/v1/pets?limit=1")).toMatch(
      /^<https:\/\/pets\.example\/v1\/pets\?limit=1&cursor=[\w-]+>; rel="next"$/,
    );
    expect(await linkOf("/v1/pets/1")).toBe(
      '<https://pets.example/docs/get-pet-removal.md>; rel="deprecation"; type="text/markdown", ' +
        '<https://pets.example/v1/pets>; rel="successor-version"',
    );
  });
});

/** Every page of a list; `between` happens before each further one. */
async function allPages(query: string, between: () => Promise<void> = async () => {}): Promise<Answer[]> {
  const pages = [await list(query)];
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

async function add(status = "available"): Promise<number> {
  const body = JSON.stringify({ name: "Ada", categoryId: 1, status });
  return ((await store.call("POST", "/v1/pets", { key, body })).json as { id: number }).id;
}
