// The files of both services over HTTP. tools/checks/browser tests the pages in a browser.
import { readdir, readFile } from "node:fs/promises";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createGraphqlApi } from "@petstore/graphql";
import { shared } from "@petstore/harness";
import { createRestApi } from "@petstore/rest";
import { openTestStore } from "@petstore/test-store";
import { beforeEach, describe, expect, it } from "vitest";

const services = {
  rest: await shared(openTestStore([createRestApi], { TRUST_PROXY: "127.0.0.0/8" })),
  graphql: await shared(openTestStore([createGraphqlApi])),
};
/** The first four are known only when the service starts. */
const files: readonly (readonly [service: Service, path: string])[] = [
  ["rest", "/openapi.json"],
  ["rest", "/openapi.yaml"],
  ["rest", "/openapi-3.0.json"],
  ["graphql", "/schema.graphql"],
  ...(await builtFiles()).map(([service, path]) => [service, path] as const),
];
/** The archive of the client hardly gets shorter. */
const compressed = files.filter(([, path]) => !path.endsWith(".tgz"));

type Service = keyof typeof services;

// One address may load 600 files in a minute.
beforeEach(() => {
  for (const { clock } of Object.values(services)) clock.nowMs += 60_000;
});

describe.each(files)("the %s service", (service, path) => {
  const load = (headers: Readonly<Record<string, string>> = {}, method = "GET") => send(service, method, path, headers);

  it(`sends ${path} without a key, uses no quota, and allows code of this origin only`, async () => {
    const { status, headers } = await load();
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "cache-control": "no-cache",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
      "x-ratelimit-limit": "300",
      "x-ratelimit-remaining": "300",
    });
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(headers["content-security-policy"]).toContain("; frame-ancestors 'none'");
  });

  it(`sends the headers of ${path} without a body for HEAD`, async () => {
    for (const encoding of ["identity", "br", "gzip"]) {
      const accepted = { "accept-encoding": encoding };
      const [get, head] = [await load(accepted), await load(accepted, "HEAD")];
      expect(lastingHeaders(head.headers)).toEqual(lastingHeaders(get.headers));
      expect(get.headers["content-length"]).toBe(`${get.bytes.length}`);
      expect([head.status, head.bytes.length]).toEqual([get.status, 0]);
    }
  });

  it(`does not send ${path} again to a client that has it`, async () => {
    const { headers, bytes } = await load({ "accept-encoding": "br" });
    const { etag = "" } = headers;
    for (const known of [etag, `"other", ${etag}`, "*"]) {
      const unchanged = await load({ "accept-encoding": "gzip", "if-none-match": known });
      expect(unchanged).toMatchObject({ status: 304, headers: { etag, vary: "Accept-Encoding" } });
      expect(unchanged.headers).not.toHaveProperty("content-encoding");
      expect(unchanged.bytes.length).toBe(0);
    }
    const changed = await load({ "accept-encoding": "br", "if-none-match": 'W/"other"' });
    expect(changed.status).toBe(200);
    expect(changed.bytes.equals(bytes)).toBe(true);
  });
});

it.each(compressed)("the %s service compresses %s as the client accepts it", async (service, path) => {
  const load = async (accepted: string) => {
    const { headers, bytes } = await send(service, "GET", path, { "accept-encoding": accepted });
    return { encoding: headers["content-encoding"], etag: headers.etag, bytes };
  };
  const plain = await load("identity");
  const brotli = await load("gzip, deflate, br");
  const gzipped = await load("gzip, br;q=0");
  const refused = await load("deflate, *;q=0");
  const all = [plain, brotli, gzipped, refused];
  expect(all.map(({ encoding }) => encoding)).toEqual([undefined, "br", "gzip", undefined]);
  expect(new Set(all.map(({ etag }) => etag)).size).toBe(1);
  expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true);
  expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true);
  expect(refused.bytes.equals(plain.bytes)).toBe(true);
  expect(brotli.bytes.length).toBeLessThan(gzipped.bytes.length);
  expect(gzipped.bytes.length).toBeLessThan(plain.bytes.length);
});

it.each(await builtFiles())("the %s service sends %s as the build wrote it", async (service, path, fileName) => {
  const { bytes } = await send(service, "GET", path);
  expect(bytes.equals(await readFile(new URL(fileName, siteOf(service))))).toBe(true);
});

it("every link to a guide has the title of the guide", async () => {
  const textOf = async (path: string) => {
    const service = path.startsWith("/docs/graphql/") ? "graphql" : "rest";
    return `${(await send(service, "GET", path)).bytes}`;
  };
  const [, footer = ""] = (await textOf("/")).split("<footer>");
  const links = [...footer.matchAll(/<a href="(\/docs\/[^"]+)">([^<]+)</g)];
  expect(links.length).toBeGreaterThan(4);
  for (const [, path = "", title] of links) {
    const [, heading = ""] = /<h1[^>]*>(.*)<\/h1>/.exec(await textOf(path)) ?? [];
    expect(heading.replaceAll(/<[^>]+>/g, "")).toBe(title);
  }
});

describe("only the exact path of a file leads to it:", () => {
  it.each([
    ...["/pages/none.js", "/pages", "/pages/", "/usage/", "/USAGE", "/usage.html", "/index.html", "/404.html"],
    ...["/pages/frame.css.br", "/pages/frame.css.gz", "/site/usage.html", "/docs/interface", "/pages%2fframe.css"],
    ...["/../openapi.json", "/pages/../../openapi.json", "/pages/..%2f..%2fopenapi.json", "/%2e%2e/openapi.json"],
    ...["/.well-known", "/.well-known/api-catalog.linkset", "/.well-known/none", "/llms", "/favicon.svg"],
    ...["/..%5copenapi.json", "//openapi.json", "/pages//frame.css", "/pages/./frame.css", "/usage%00"],
  ])("%s", async (path) => {
    for (const service of ["rest", "graphql"] as const) {
      const { key } = await services[service].issueKey();
      expect(await services[service].call("GET", path)).toMatchObject({ status: 401, code: "API_KEY_MISSING" });
      expect(await services[service].call("GET", path, { key })).toMatchObject({
        status: 404,
        code: "ROUTE_NOT_FOUND",
      });
    }
  });
});

describe("programs find", () => {
  const load = (path: string, method = "GET", service: Service = "rest") => send(service, method, path);

  it("the catalog of both APIs, with its media type and a link to itself", async () => {
    const [get, head] = [await load("/.well-known/api-catalog"), await load("/.well-known/api-catalog", "HEAD")];
    for (const { headers } of [get, head]) {
      expect(headers).toMatchObject({
        "content-type": 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        link: '</.well-known/api-catalog>; rel="api-catalog"',
      });
    }
    const { linkset } = JSON.parse(get.bytes.toString()) as { readonly linkset: readonly LinkContext[] };
    expect(linkset.map(({ anchor }) => anchor)).toEqual(["/.well-known/api-catalog", "/v1", "/graphql"]);
    expect(linkset[0]?.item).toEqual([{ href: "/v1" }, { href: "/graphql" }]);
    const { item: _items, ...relations } = Object.assign({}, ...linkset.slice(1));
    expect(Object.keys(relations)).toEqual(["anchor", "service-desc", "service-doc"]);
    for (const { anchor, "service-desc": descriptions = [], "service-doc": texts = [] } of linkset.slice(1)) {
      const service = anchor === "/v1" ? "rest" : "graphql";
      for (const { href, type = "" } of [...descriptions, ...texts]) {
        expect(await load(href, "HEAD", service), href).toMatchObject({
          status: 200,
          headers: { "content-type": expect.stringContaining(type) },
        });
      }
    }
  });

  it("all guides as Markdown, and all files, in llms.txt", async () => {
    const { headers, bytes } = await load("/llms.txt");
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    const text = bytes.toString();
    expect(text).toMatch(/^# Pet store\n\n> .+\n\n[^#]+\n## Guides\n\n(- .+\n)+\n## .+\n\n(- .+\n)+$/);
    const links = [...text.matchAll(/^- \[[^\]]+\]\((\S+)\): \S.*$/gm)].map(([, path = ""]) => path);
    expect(links).toEqual(
      expect.arrayContaining([
        "/docs/quickstart.md",
        "/docs/graphql/quickstart.md",
        "/docs/errors.md",
        "/openapi.json",
      ]),
    );
    for (const path of links) {
      const isGraphql = /^\/(docs\/graphql|schema)/.test(path);
      expect((await load(path, "HEAD", isGraphql ? "graphql" : "rest")).status, path).toBe(200);
    }
  });

  it("no dead link in a guide as Markdown: each leads to a file of the services, or is absolute", async () => {
    const guides = files.filter(([, path]) => path.endsWith(".md"));
    expect(guides.length).toBeGreaterThan(5);
    const served = new Set(files.map(([, path]) => path));
    const dead: string[] = [];
    for (const [service, path] of guides) {
      const text = (await load(path, "GET", service)).bytes.toString();
      const links = [...text.replaceAll(/^ *```.*?^ *```$/gms, "").matchAll(/\]\(([^)\s]+)\)/g)];
      for (const [, link = ""] of links) {
        const { origin, pathname } = new URL(link, `http://service${path}`);
        if (origin === "http://service" && !served.has(pathname)) dead.push(`${path}: ${link}`);
      }
    }
    expect(dead).toEqual([]);
  });

  it.each([
    ["/robots.txt", "text/plain; charset=utf-8", /^User-agent: \*\nDisallow: \/v1\/\n/m],
    ["/docs", "text/html; charset=utf-8", /href="\/docs\/graphql\/quickstart"/],
  ])("%s", async (path, mediaType, content) => {
    const { headers, bytes } = await load(path);
    expect(headers["content-type"]).toBe(mediaType);
    expect(bytes.toString()).toMatch(content);
  });

  it("an icon where a response has no page, from both services", async () => {
    for (const service of ["rest", "graphql"] as const) {
      const { headers, bytes } = await load("/favicon.ico", "GET", service);
      expect(headers["content-type"]).toBe("image/vnd.microsoft.icon");
      // The signature of an icon with one image.
      expect([...bytes.subarray(0, 6)]).toEqual([0, 0, 1, 0, 1, 0]);
    }
  });
});

it("an address that loads more than 600 files in a minute is refused, and no other", async () => {
  const store = services.rest;
  const load = (address: string, path = "/pages/reference.js", headers = {}) =>
    store.call("GET", path, { headers: { "X-Forwarded-For": address, ...headers } });
  const { etag = "" } = (await load("192.0.2.1")).headers;
  // A file that the client has counts as well.
  expect((await load("192.0.2.1", undefined, { "If-None-Match": etag })).status).toBe(304);
  const loaded = await Promise.all(Array.from({ length: 598 }, () => load("192.0.2.1")));
  expect(new Set(loaded.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await load("192.0.2.1", "/openapi.json")).toMatchObject({
    status: 429,
    json: { code: "RATE_LIMIT_EXCEEDED", message: "An address may load 600 files a minute.", status: 429 },
    headers: { "content-type": "application/json; charset=utf-8" },
    rateLimit: { limit: 600, remaining: 0 },
  });
  expect((await load("192.0.2.2")).status).toBe(200);
  expect((await load("192.0.2.1", "/v1/pets")).status).toBe(401);
  store.clock.nowMs += 61_000;
  expect((await load("192.0.2.1")).status).toBe(200);
});

it("a redirect counts as a file", async () => {
  const load = () => services.graphql.call("GET", "/", { headers: { "X-Forwarded-For": "192.0.2.3" } });
  const loaded = await Promise.all(Array.from({ length: 600 }, load));
  expect(new Set(loaded.map(({ status }) => status))).toEqual(new Set([302]));
  expect((await load()).status).toBe(429);
});

describe("an unknown path", () => {
  const store = services.rest;
  const Accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

  it.each([
    ["GET", "/docs/none"],
    ["HEAD", "/docs/none"],
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
    const known = { ...headers, "If-None-Match": answer.headers.etag ?? "" };
    expect((await store.call("GET", path, { headers: known })).status).toBe(404);
  });

  it.each([
    ["a path of the REST API", "/v1/none", Accept],
    ["any media type", "/docs/none", "*/*"],
    ["a path of the GraphQL API", "/graphql/none", Accept],
    ["JSON before HTML", "/docs/none", "application/json, text/html;q=0.9"],
  ])("is the Error body for %s", async (_what, path, accepted) => {
    const answer = await store.call("GET", path, { headers: { Accept: accepted } });
    expect(answer).toMatchObject({ status: 401, json: { code: "API_KEY_MISSING" } });
  });

  it("is the Error body for a browser with a key", async () => {
    const { key } = await store.issueKey();
    const answer = await store.call("GET", "/docs/none", { key, headers: { Accept } });
    expect(answer).toMatchObject({ status: 404, json: { code: "ROUTE_NOT_FOUND" } });
  });
});

interface LinkContext {
  readonly anchor: string;
  readonly item?: readonly Target[];
  readonly "service-desc"?: readonly Target[];
  readonly "service-doc"?: readonly Target[];
}

interface Target {
  readonly href: string;
  readonly type?: string;
}

interface Loaded {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** `fetch` would decompress the body. */
async function send(
  service: Service,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Loaded> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(services[service].origin, { method, path, headers }, resolve).on("error", reject).end();
  });
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}

/** Without the headers that differ between two responses. */
function lastingHeaders({ date: _date, "x-request-id": _id, ...headers }: IncomingHttpHeaders): object {
  return headers;
}

function siteOf(service: Service): URL {
  return new URL("./site/", import.meta.resolve(`@petstore/${service}`));
}

type BuiltFile = readonly [service: Service, path: string, fileName: string];

/** The files that the build wrote for both services, without their compressed forms and the page for unknown paths. */
async function builtFiles(): Promise<readonly BuiltFile[]> {
  const all = (["rest", "graphql"] as const).map(async (service): Promise<readonly BuiltFile[]> => {
    const entries = await readdir(siteOf(service), { recursive: true });
    const names = entries.map((name) => name.replaceAll("\\", "/"));
    const contents = names.filter((name) => /\.\w+$/.test(name) && !/\.(br|gz)$/.test(name) && name !== "404.html");
    return contents.map((name) => [
      service,
      name === "index.html" ? "/" : `/${name.replace(/\.(html|linkset)$/, "")}`,
      name,
    ]);
  });
  return (await Promise.all(all)).flat();
}
