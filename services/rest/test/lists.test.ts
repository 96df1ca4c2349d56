// The query and the links of a list. tools/checks/conformance/contract tests values, filters, cursors and pages.
import { describe, expect, it } from "vitest";
import { openSharedStore, openTestStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();

const list = (query: string) => store.call("GET", `/v1/pets${query}`, { key });
const insertTwo = "insert into pets (name, category_id, status) values ('a', 1, 'sold'), ('b', 1, 'sold')";

it.each([
  ["limit=1&limit=1", "limit must be an integer from 1 to 100"],
  [`${"&".repeat(1_000)}limit=0`, "limit must be an integer from 1 to 100"],
  ["status=%FF", "status must be one of available, pending, sold"],
  ["status=sold&status=sold", "status must be one of available, pending, sold"],
  ["cursor=a&cursor=a", "cursor must be given once"],
  ["__proto__=1", "__proto__ is unknown; query parameter must be limit, status or cursor"],
  ["limit[]=1", "query parameter must be limit, status or cursor"],
])("the query may not be ?%s", async (query, message) => {
  expect(await list(`?${query}`)).toMatchObject({ status: 400, json: { code: "VALIDATION_FAILED", message } });
});

describe("the URLs in Link", () => {
  const headers = { Host: "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "gopher" };

  it("are relative by default", async () => {
    await store.execute(insertTwo);
    const { link } = (await store.call("GET", "/v1/pets?status=sold&limit=1", { key, headers })).headers;
    expect(link).toMatch(/^<\/v1\/pets\?status=sold&limit=1&cursor=[\w-]+>; rel="next"$/);
  });

  it("start with PUBLIC_URL if it is set, never with the Host header", async () => {
    await using published = await openTestStore({ PUBLIC_URL: "https://pets.example/" });
    const caller = await published.issueKey();
    await published.execute(insertTwo);
    const linkOf = async (path: string) => (await published.call("GET", path, { ...caller, headers })).headers.link;
    expect(await linkOf("/v1/pets?limit=1")).toMatch(
      /^<https:\/\/pets\.example\/v1\/pets\?limit=1&cursor=[\w-]+>; rel="next"$/,
    );
    expect(await linkOf("/v1/pets/1")).toMatch(
      /^<https:\/\/pets\.example\/docs\/.*, <https:\/\/pets\.example\/v1\/pets>;/,
    );
  });
});
