// Tests the HTTP responses of the pages and files. tools/checks/browser tests the pages in a browser.
import { readdir } from "node:fs/promises";
import { openTestStore } from "@petstore/checks/test-store";
import { describe, expect, it, vi } from "vitest";
import { openSharedStore } from "./test-store.js";

const store = await openSharedStore({ TRUST_PROXY: "127.0.0.0/8" });
const page = (path: string, headers: Readonly<Record<string, string>> = {}) => store.call("GET", path, { headers });
/** The contract is a file of the repository alone. */
const guides = (await readdir(new URL("../docs/", import.meta.url))).filter((name) => name !== "interface.md");

it.each([
  ...["/", "/usage", "/pages/reference.js", "/openapi.json", "/openapi.yaml"],
  ...guides.flatMap((file) => [`/docs/${file}`, `/docs/${file.replace(/\.md$/, "")}`]),
])("%s needs no key, uses no quota, and allows scripts and styles of this origin only", async (path) => {
  expect(await page(path)).toMatchObject({
    status: 200,
    rateLimit: { limit: 300, remaining: 300 },
    headers: {
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    },
  });
});

describe("the reference page lists the fields of", () => {
  /** The rows of the first table below each heading with this text, without markup. */
  const rowsBelow = async (heading: string) => {
    const { text } = await page("/");
    const [, table = ""] = text.split(`<h3>${heading}</h3>`)[1]?.split(/<\/?tbody>/) ?? [];
    const cells = (row: string) => row.split("</td>").map((cell) => cell.replaceAll(/<[^>]+>|\n/g, ""));
    return table
      .trim()
      .split("</tr>")
      .map(cells)
      .map((row) => row.slice(0, 3))
      .filter((row) => row.length === 3);
  };
  const int64 = "From -9223372036854775808 to 9223372036854775807.";
  const name = expect.stringMatching(
    /at least one non-blank character, no control characters\. 1 to 255 characters\.$/,
  );
  const categoryId = expect.stringContaining(int64);
  const choices = "One of available, pending, sold.";

  it("a new pet", async () => {
    expect(await rowsBelow("Body of the request: <code>NewPet</code>")).toEqual([
      ["name", "string, required", name],
      ["categoryId", "integer, int64, required", categoryId],
      ["status", "string, optional", `available unless given. ${choices}`],
    ]);
  });

  it.each([
    "Body of 200: an array of <code>Pet</code>",
    "Body of 201: <code>Pet</code>",
    "Body of 200: <code>Pet</code>",
  ])("%s", async (heading) => {
    expect(await rowsBelow(heading)).toEqual([
      ["id", "integer, int64, required", `Assigned by the service when the pet is added. ${int64}`],
      ["name", "string, required", name],
      ["categoryId", "integer, int64, required", categoryId],
      ["status", "string, optional", expect.stringContaining(choices)],
    ]);
  });

  it("an error", async () => {
    const rows = await rowsBelow("Body of every other status: <code>Error</code>");
    expect(rows.map(([field]) => field)).toEqual(["code", "message", "status"]);
  });
});

it("a page is not sent again to a browser that has it, and is compressed only for clients that accept gzip", async () => {
  const { text, headers } = await page("/");
  expect(headers["content-encoding"]).toBeUndefined();
  const compressed = await fetch(`${store.origin}/`, { headers: { "Accept-Encoding": "gzip" } });
  expect(compressed.headers.get("content-encoding")).toBe("gzip");
  expect(await compressed.text()).toBe(text);
  expect(await page("/", { "If-None-Match": `"other", ${headers.etag}` })).toMatchObject({ status: 304, text: "" });
  expect(await page("/", { "If-None-Match": 'W/"other"' })).toMatchObject({ status: 200, text });
});

it("a file is prepared once, also for its first requests at the same time, and again after a failure", async () => {
  const content = vi.fn(() => "text");
  content.mockImplementationOnce(() => {
    throw new Error("too many open files");
  });
  const file = { path: "/text.md", content };
  await using own = await openTestStore([() => ({ resources: [], files: [file] })]);
  expect(await own.call("GET", file.path)).toMatchObject({ status: 500 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => own.call("GET", file.path)));
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(["text"]));
  expect(content).toHaveBeenCalledTimes(2);
});

it("an address that loads more than 600 files in a minute is refused, and no other", async () => {
  const load = (address: string, path = "/pages/reference.js") => page(path, { "X-Forwarded-For": address });
  const loaded = await Promise.all(Array.from({ length: 600 }, () => load("192.0.2.1")));
  expect(new Set(loaded.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await load("192.0.2.1", "/openapi.json")).toMatchObject({
    status: 429,
    json: { code: "RATE_LIMIT_EXCEEDED", message: "An address may load 600 files a minute.", status: 429 },
    headers: { "retry-after": "61", "content-type": "application/json; charset=utf-8" },
    rateLimit: { limit: 600, remaining: 0, reset: store.clock.nowMs / 1_000 + 60 },
  });
  expect((await load("192.0.2.2")).status).toBe(200);
  expect((await load("192.0.2.1", "/v1/pets")).status).toBe(401);
  store.clock.nowMs += 61_000;
  expect((await load("192.0.2.1")).status).toBe(200);
});

describe("an unknown path", () => {
  const Accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

  it.each([
    ["GET", "/docs"],
    ["HEAD", "/docs"],
    ["GET", "/404"],
  ])("is a page with status 404 for the %s of a browser, and costs nothing: %s", async (method, path) => {
    const headers = { Accept, "X-Forwarded-For": "192.0.2.3" };
    const answer = await store.call(method, path, { headers });
    expect(answer).toMatchObject({
      status: 404,
      headers: { "content-type": "text/html; charset=utf-8" },
      rateLimit: { remaining: answer.rateLimit.limit },
    });
    expect(answer.text.includes('<a href="/">')).toBe(method === "GET");
    expect((await page(path, { ...headers, "If-None-Match": answer.headers.etag ?? "" })).status).toBe(404);
  });

  it.each([
    ["a path of the REST API", "/v1/none", Accept],
    ["any media type", "/docs", "*/*"],
    ["a path of the GraphQL API", "/graphql/none", Accept],
    ["JSON before HTML", "/docs", "application/json, text/html;q=0.9"],
  ])("is the Error body for %s", async (_what, path, accepted) => {
    const answer = await page(path, { Accept: accepted });
    expect(answer).toMatchObject({ status: 401, json: { code: "API_KEY_MISSING" } });
  });

  it("is the Error body for a browser with a key", async () => {
    const { key } = await store.issueKey();
    const answer = await store.call("GET", "/docs", { key, headers: { Accept } });
    expect(answer).toMatchObject({ status: 404, json: { code: "ROUTE_NOT_FOUND" } });
  });
});
