// A page that another page follows cannot change while clients create pets, so it has an ETag.
import { describe, expect, it } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore();
const { key } = await store.issueKey();
await store.execute(
  "insert into pets (name, category_id, status) select 'Rex', n, 'sold' from generate_series(1, 3) n",
);
const path = "/v1/pets?limit=2";

const ask = (headers: Record<string, string> = {}, method = "GET") => store.call(method, path, { key, headers });

describe("a page that another page follows", () => {
  it("has an ETag, and may be stored by the client if it asks before each use", async () => {
    const { headers } = await ask();
    expect(headers).toMatchObject({
      "cache-control": "private, no-cache",
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    });
    expect((await ask()).headers).toMatchObject({ etag: headers.etag, link: headers.link });
  });

  it.each(["GET", "HEAD"])("is 304 without a body if it has not changed, and costs a unit: %s", async (method) => {
    const { headers, rateLimit } = await ask();
    const etag = headers.etag ?? "";
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const answer = await ask({ "if-none-match": condition }, method);
      expect(answer).toMatchObject({ status: 304, text: "" });
      // RFC 9110 section 15.4.5.
      expect(answer.headers).toMatchObject({ etag, "cache-control": "private, no-cache", date: expect.any(String) });
      expect(answer.headers).not.toHaveProperty("content-type");
    }
    const { rateLimit: after } = await ask();
    expect(after).toEqual({ ...rateLimit, remaining: rateLimit.remaining - 5 });
  });

  it("is sent again for another ETag, and after an operator has changed a pet", async () => {
    const { headers, text } = await ask();
    expect(await ask({ "if-none-match": '"other"' })).toMatchObject({ status: 200, text });
    await store.execute("update pets set name = 'Ada' where id = 1");
    const changed = () => ask({ "if-none-match": headers.etag ?? "" });
    await expect.poll(async () => (await changed()).status).toBe(200);
    expect((await changed()).text).toContain("Ada");
  });

  it("is refused like any other to a key that may not list", async () => {
    const { headers } = await ask();
    const condition = { "if-none-match": headers.etag ?? "" };
    const writer = await store.issueKey({ scope: "write" });
    expect(await store.call("GET", path, { key: writer.key, headers: condition })).toMatchObject({ status: 403 });
    expect(await store.call("GET", path, { headers: condition })).toMatchObject({
      status: 401,
      headers: { "cache-control": "no-store" },
    });
  });
});

it.each(["GET", "HEAD"])(
  "a key that ends within 30 days is told so with the page and with its 304 (%s), and stores no page that would tell it later",
  async (method) => {
    const expiresAt = new Date(Date.now() + 86_400_000);
    const ending = await store.issueKey({ expiresAt });
    const askWith = (headers: Readonly<Record<string, string>>) =>
      store.call(method, path, { key: ending.key, headers });
    const announced = { "api-key-expires": expiresAt.toUTCString(), "cache-control": "no-store" };
    const page = await askWith({});
    expect(page).toMatchObject({ status: 200, headers: announced });
    const unchanged = await askWith({ "if-none-match": page.headers.etag ?? "" });
    expect(unchanged).toMatchObject({ status: 304, headers: announced });
  },
);

it("the last page has no ETag and must not be stored, because the next pet appears on it", async () => {
  const last = await store.call("GET", "/v1/pets?limit=100", { key, headers: { "if-none-match": "*" } });
  expect(last).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
  expect(last.headers).not.toHaveProperty("etag");
});
