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

  it("can be read again with the same cursor, and with another limit", async () => {
    const cursor = await cursorFor("/v1/pets?limit=3");
    const twice = [await list(`?limit=3&cursor=${cursor}`), await list(`?limit=3&cursor=${cursor}`)];
    expect(twice[0]?.text).toBe(twice[1]?.text);
    expect(idsOf(await list(`?limit=1&cursor=${cursor}`))).toEqual([4]);
  });
});

describe("a cursor is bound to its filter", () => {
  it.each([
    ["?limit=1&status=sold", ""],
    ["?limit=1&status=sold", "&status=pending"],
    ["?limit=1&status=pending", "&status=available"],
    ["?limit=1", "&status=available"],
  ])("a cursor of %s is refused with %j", async (query, otherFilter) => {
    const cursor = await cursorFor(`/v1/pets${query}`);
    const answer = await list(`?limit=1&cursor=${cursor}${otherFilter}`);
    expect(answer).toMatchObject({ status: 400, json: { code: "INVALID_CURSOR", status: 400 } });
  });
});

describe("any other text is no cursor", async () => {
  const cursor = await cursorFor("/v1/pets?limit=1");
  const bytes = Buffer.from(cursor, "base64url");
  const altered = (place: number, value: number) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(value, place);
    return copy.toString("base64url");
  };
  it.each([
    ["nothing", ""],
    ["a word", "next"],
    ["an id", "3"],
    ["a blank", "%20"],
    ["half of one", cursor.slice(0, 7)],
    ["all but its last character", cursor.slice(0, -1)],
    ["one character more", `${cursor}A`],
    ["two in a row", cursor + cursor],
    ["padding", `${cursor}==`],
    ["another spelling of the same bytes", `${cursor.slice(0, -1)}R`],
    ["base64 instead of base64url", "AQD%2F%2F%2F%2F%2F%2F%2F%2F%2Fw"],
    ["a version of the future", altered(0, 2)],
    ["version 0", altered(0, 0)],
    ["a filter there is not", altered(1, 4)],
    ["8,000 characters", "A".repeat(8_000)],
    ["an upside-down question mark", "%C2%BF"],
    ["bytes that are no UTF-8", "%FF%FE"],
  ])("%s is refused", async (_what, text) => {
    const answer = await list(`?limit=1&cursor=${text}`);
    expect(answer).toMatchObject({ status: 400, json: { code: "INVALID_CURSOR", status: 400 } });
    if (text !== "") expect(answer.text).not.toContain(text);
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

function list(query: string): Promise<Answer> {
  return store.call("GET", `/v1/pets${query}`, { key });
}

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

async function cursorFor(path: string): Promise<string> {
  const next = nextOf(await store.call("GET", path, { key })) ?? "";
  return new URLSearchParams(next.slice(next.indexOf("?"))).get("cursor") ?? "";
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
