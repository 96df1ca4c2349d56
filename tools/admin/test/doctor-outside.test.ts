// `petstore doctor --url`, of both services behind a balancer.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server as NetServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { mintApiKey } from "@petstore/core";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithProgram, describeWithRedis, shared } from "@petstore/harness";
import { makeCertificate, openHttpServer } from "@petstore/harness/network";
import { query } from "@petstore/harness/postgres";
import { anchorsOf, repository, startProgram, startService } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { describe, expect, it } from "vitest";
import type { CommandContext } from "../src/command-context.js";
import type { Finding } from "../src/doctor/finding.js";
import { guideSections } from "../src/doctor/guide-sections.js";
import { maxUnits } from "../src/doctor/outside/check-account.js";
import { exposedHeaders } from "../src/doctor/outside/check-cors.js";
import { metricsAddresses } from "../src/doctor/outside/check-metrics.js";
import { checkCertificate, checkHttp2, checkPlainHttp, plainAddressesOf } from "../src/doctor/outside/check-tls.js";
import { openStoreClient } from "../src/doctor/outside/store-client.js";
import { type Origins, openBalancer, openTlsBalancer, ownPage, type Plant } from "./planted-balancer.js";
import { finding, runCommand, useDatabase } from "./run-command.js";

const restMain = new URL(import.meta.resolve("@petstore/rest/main"));
const graphqlMain = new URL(import.meta.resolve("@petstore/graphql/main"));
const command = fileURLToPath(new URL("../bin/petstore.mjs", import.meta.url));

describeWithRedis("petstore doctor --url", async () => {
  const limits = "--plan enterprise --per-minute 1000000 --per-day 1000000";
  const { database, environment, json, petstore } = await useDatabase("migrate", `account create shop ${limits}`);
  const { key } = await json("key issue shop");
  const redis = await shared(openRedisServer());
  const metricsPort = await choosePort(undefined);
  // On a busy machine, a slow Redis would be an outage.
  const alone = {
    ...environment,
    REDIS_COMMAND_TIMEOUT_MS: "5000",
    TRUST_PROXY: "127.0.0.0/8",
    ANONYMOUS_REQUESTS_PER_MINUTE: "100000",
  };
  const settings = { ...alone, REDIS_URL: redis.url, QUOTA_INSTANCES: "2" };
  const rest = await shared(
    startService({ main: restMain, environment: { ...settings, METRICS_PORT: `${metricsPort}` } }),
  );
  const graphql = await shared(startService({ main: graphqlMain, environment: settings }));
  const separate = await shared(startService({ main: graphqlMain, environment: alone }));
  const origins: Origins = { rest: rest.origin, graphql: graphql.origin };
  await query(
    database.directUrl,
    "insert into pets (name, category_id, status) select 'Pet ' || n, n, 'available' from generate_series(1, 120) n",
  );

  async function examine(plant: Plant = {}, { words = "", apiKey = key } = {}) {
    await using balancer = await openBalancer(origins, plant);
    const ran = await runCommand(`doctor --json --url ${balancer.url} ${words}`, { API_KEY: apiKey });
    return { ...ran, findings: (ran.printed === "" ? [] : JSON.parse(ran.printed)) as Finding[] };
  }

  async function countPets(): Promise<unknown> {
    return await query(database.directUrl, "select count(*) as count from pets");
  }

  it("finds nothing wrong with a right deployment, needs no database, and creates no pet", async () => {
    const before = await countPets();
    const { exitCode, printed, complained, findings } = await examine();
    expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
    expect({ exitCode, complained }).toEqual({ exitCode: 0, complained: "" });
    expect(findings.length).toBeGreaterThan(15);
    expect(printed).not.toContain(key);
    expect(await countPets()).toEqual(before);
  });

  it("says how many units it has used, which are fewer than 30 and those that the service has counted", async () => {
    await petstore(`account create counted ${limits}`);
    const { key: apiKey } = await json("key issue counted");
    const { findings } = await examine({}, { apiKey });
    const [, units = ""] = /^the checks have used (\d+) units of the account$/.exec(findings.at(-1)?.found ?? "") ?? [];
    expect(findings.at(-1)?.check).toBe("units");
    expect(Number(units)).toBeGreaterThan(10);
    expect(Number(units)).toBeLessThan(maxUnits);
    const countedUnits = async () => {
      const response = await fetch(`${rest.origin}/rate_limit`, { headers: { Authorization: `Bearer ${apiKey}` } });
      return ((await response.json()) as { readonly day: { readonly used: number } }).day.used;
    };
    // The service may show counts that are a second old.
    await expect.poll(countedUnits).toBe(Number(units));
  });

  it("finds nothing wrong with a key that may only list pets", async () => {
    const { key: apiKey } = await json("key issue shop --scope read");
    const { findings } = await examine({}, { apiKey });
    expect(findings.filter(({ status }) => status !== "ok")).toEqual([]);
  });

  it("reads the key from standard input, and accepts the address of the REST API", async () => {
    await using balancer = await openBalancer(origins);
    const { exitCode, printed } = await runCommand(`doctor --url ${balancer.url}/v1`, {}, { input: `${key}\n` });
    expect(exitCode).toBe(0);
    expect(printed).toMatch(/^ok {7}apis: both list pets$/m);
    expect(printed.split("\n").at(-1)).toMatch(/^ok {7}units: the checks have used \d+ units of the account$/);
  });

  it("finds the GraphQL API at another address", async () => {
    const { findings } = await examine(
      { answer: ({ url }) => (url === "/graphql" ? ownPage(404) : undefined) },
      { words: `--graphql-url ${graphql.origin}` },
    );
    // Nothing compresses its responses there, and nobody names the client.
    expect(findings.filter(({ status }) => status !== "ok").map(({ check }) => check)).toEqual([
      "client address",
      "compression",
    ]);
  });

  it("expects scripts to read the headers that the services expose", async () => {
    const { headers } = await fetch(`${rest.origin}/v1/pets`, { headers: { Origin: "https://pets.example" } });
    expect(headers.get("Access-Control-Expose-Headers")?.split(",").sort()).toEqual([...exposedHeaders].sort());
  });

  const without =
    (...names: readonly string[]): NonNullable<Plant["relay"]> =>
    ({ headers }) => {
      for (const name of names) delete headers[name];
    };
  const quotaHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit"];
  /** An error page of the balancer in place of the response of a service with this status. */
  const ownPageFor =
    (status: number): NonNullable<Plant["relay"]> =>
    (relayed) => {
      if (relayed.status === status) Object.assign(relayed, ownPage(status));
    };

  const plants: readonly (readonly [name: string, plant: Plant, check: string, found: RegExp])[] = [
    ["two counts", { graphql: separate.origin }, "quota", /an account is granted its limit more than once$/],
    [
      "a GraphQL API that the balancer does not know",
      { graphql: rest.origin },
      "apis",
      /^POST \/graphql got 404 ROUTE_NOT_FOUND, and no result of GraphQL$/,
    ],
    [
      "removed rate-limit headers",
      { relay: without(...quotaHeaders) },
      "rate-limit headers",
      /^REST lacks X-RateLimit-Limit, .*, RateLimit; GraphQL lacks/,
    ],
    ["a removed Retry-After", { relay: without("retry-after") }, "retry-after", /^a 429 has none$/],
    [
      "a request id of its own",
      { forward: (headers) => Object.assign(headers, { "x-request-id": "own" }) },
      "request id",
      /^REST returns another one than the client has sent; GraphQL returns another/,
    ],
    ["a removed Link", { relay: without("link") }, "link", /^GET \/rate_limit has none$/],
    [
      "a Link to the host behind it",
      {
        relay: ({ headers }) => {
          headers.link = `${headers.link ?? ""}`.replace("</v1", "<http://rest:3000/v1");
        },
      },
      "link",
      /^the link to the next page leads to http:\/\/rest:3000$/,
    ],
    ["a removed ETag", { relay: without("etag") }, "etag", /^a page has none$/],
    [
      "a weak ETag for everybody",
      {
        relay: ({ headers }) => {
          if (headers.etag?.startsWith('"')) headers.etag = `W/${headers.etag}`;
        },
      },
      "etag",
      /^a page that is not compressed has a weak one$/,
    ],
    [
      "a strong ETag of a compressed page",
      {
        relay: ({ headers }) => {
          if (headers["content-encoding"] === "gzip") headers.etag = headers.etag?.replace("W/", "");
        },
      },
      "etag",
      /^a compressed page has the strong one/,
    ],
    [
      "an ETag that the service does not know again",
      {
        relay: ({ headers }) => {
          if (headers["content-encoding"] === "gzip") headers.etag = headers.etag?.replace(/"$/, '-gzip"');
        },
      },
      "etag",
      /^a client that sends If-None-Match: W\/".*-gzip" gets 200 and not 304, with Accept-Encoding: gzip$/,
    ],
    [
      "a 401 of its own",
      { relay: ownPageFor(401) },
      "error 401",
      /^GET \/v1\/pets got 401 without an error code \(text\/html\) and not 401 API_KEY_MISSING; POST \/graphql got 401/,
    ],
    ["a 404 of its own", { relay: ownPageFor(404) }, "error 404", /^GET \/v1\/no-such-path got 404 without/],
    [
      "a limit of 1 MiB for bodies",
      { answer: ({ headers }) => (Number(headers["content-length"] ?? 0) > 1_048_576 ? ownPage(413) : undefined) },
      "error 413",
      /^POST \/v1\/pets got 413 without .*; POST \/graphql got 413 without/,
    ],
    [
      "few methods",
      { answer: ({ method }) => (method === "PATCH" ? ownPage(405) : undefined) },
      "error 405",
      /^PATCH \/v1\/pets got 405 without an error code/,
    ],
    [
      "501 for a method that it does not know",
      { answer: ({ method }) => (method === "PATCH" ? ownPage(501) : undefined) },
      "error 405",
      /^PATCH \/v1\/pets got 501 without an error code \(text\/html\) and not 405 METHOD_NOT_ALLOWED; PATCH \/graphql got 501/,
    ],
    [
      "502 for a large body that the service has refused early",
      { answer: ({ headers }) => (Number(headers["content-length"] ?? 0) > 1_048_576 ? ownPage(502) : undefined) },
      "error 413",
      /^POST \/v1\/pets got 502 without .* and not 413 PAYLOAD_TOO_LARGE; POST \/graphql got 502 without/,
    ],
    ["a removed Allow", { relay: without("allow") }, "error 405", /got 405 without the header Allow of the service/],
    [
      "addresses that clients choose",
      { believesClients: true },
      "client address",
      /^a client of REST and GraphQL chooses the address that counts it, by its own X-Forwarded-For$/,
    ],
    [
      "a clock that is an hour behind",
      {
        relay: ({ headers }) => {
          headers.date = new Date(Date.now() - 3_600_000).toUTCString();
        },
      },
      "clocks",
      /^the Date of REST is 3[56]\d\d s behind this machine; the Date of GraphQL/,
    ],
    [
      "a reset that is counted in seconds from now",
      {
        relay: ({ headers }) => {
          if (headers["x-ratelimit-reset"] !== undefined) headers["x-ratelimit-reset"] = "37";
        },
      },
      "clocks",
      /^X-RateLimit-Reset of REST is not the beginning of a minute/,
    ],
    [
      "public metrics",
      {
        answer: ({ url }) =>
          url === "/metrics"
            ? { ...ownPage(200, { "content-type": "text/plain" }), body: Buffer.from(metricsText) }
            : undefined,
      },
      "metrics",
      /^everybody can read http:\/\/127\.0\.0\.1:\d+\/metrics$/,
    ],
    ["no compression", { compressesNothing: true }, "compression", /^JSON of REST and GraphQL is not compressed/],
    [
      "compression without Vary",
      { relay: without("vary") },
      "compression",
      /^responses differ by Accept-Encoding without Vary: Accept-Encoding \(GET \/v1\/pets\?limit=100, POST \/graphql, /,
    ],
    [
      "another answer to HEAD",
      {
        relay: (relayed, request) => {
          if (request.method === "HEAD") without("link", "etag")(relayed, request);
        },
      },
      "head",
      /^HEAD and GET differ in etag, link$/,
    ],
    [
      "no HEAD",
      { answer: ({ method }) => (method === "HEAD" ? ownPage(403) : undefined) },
      "head",
      /^HEAD gets 403 where GET gets 200$/,
    ],
    [
      "CORS headers of its own beside those of the services",
      {
        relay: ({ headers }) => {
          headers["access-control-allow-origin"] = "*, *";
        },
      },
      "cors",
      /^REST allows the origin \*, \* in a preflight request, and not \*/,
    ],
    [
      "no OPTIONS",
      { answer: ({ method }) => (method === "OPTIONS" ? ownPage(403) : undefined) },
      "cors",
      /^REST answers a preflight request with 403; GraphQL answers/,
    ],
    [
      "headers that scripts cannot read",
      {
        relay: ({ headers }) => {
          headers["access-control-expose-headers"] = "Link,ETag";
        },
      },
      "cors",
      /^REST hides Allow, .* from scripts/,
    ],
  ];
  const metricsText = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();

  it.each(plants)("names a balancer with %s, and nothing else", async (_name, plant, check, found) => {
    const { exitCode, findings } = await examine(plant);
    const wrong = findings.filter(({ status }) => status === "warning" || status === "fault");
    expect(wrong).toEqual([finding(wrong[0]?.status === "warning" ? "warning" : "fault", check, found)]);
    expect(wrong[0]?.guide).toMatch(/^tools\/deploy\/operations\.md#[a-z-]+$/);
    expect(exitCode).toBe(wrong[0]?.status === "fault" ? 1 : 0);
  });

  it.each([
    [11, "ok"],
    [12, "skipped"],
    [40, "skipped"],
  ])(
    "does not accuse a balancer that shares requests among %s instances: the check is %s",
    async (instances, status) => {
      const counts = { REST: Array<number>(instances).fill(0), GraphQL: Array<number>(instances).fill(0) };
      const { exitCode, findings } = await examine({
        relay({ headers }, request) {
          if (request.headers.authorization !== undefined || headers["x-ratelimit-limit"] === undefined) return;
          const turns = counts[request.url === "/graphql" ? "GraphQL" : "REST"];
          const used = (turns.shift() ?? 0) + 1;
          turns.push(used);
          headers["x-ratelimit-remaining"] = `${Number(headers["x-ratelimit-limit"]) - used}`;
        },
      });
      expect(exitCode).toBe(0);
      expect(findings.find(({ check }) => check === "client address")?.status).toBe(status);
    },
  );

  it("shows the section of the guide below the advice", async () => {
    await using balancer = await openBalancer(origins, { relay: without("retry-after") });
    const { printed, complained } = await runCommand(`doctor --url ${balancer.url}`, { API_KEY: key });
    expect(printed).toMatch(
      /^FAULT {4}retry-after: a 429 has none\n {9}-> Let .*\n {12}See tools\/deploy\/operations\.md#what-a-proxy-must-pass-on$/m,
    );
    expect(complained).toBe("Found 1 fault.");
  });

  it.each<[name: string, answer: NonNullable<Plant["answer"]>, reason: RegExp]>([
    [
      "a redirect",
      () => ownPage(301, { location: "https://pets.example/v1" }),
      /redirects to https:\/\/pets\.example: /,
    ],
    ["a page", () => ownPage(200), /^There is no pet store at http:.*: GET \/rate_limit got 200 without an error code/],
    ["a 404", () => ownPage(404), /^There is no pet store at /],
    [
      "an error of a proxy",
      () => ownPage(502),
      /^GET \/rate_limit got 502 without an error code \(text\/html\): repair/,
    ],
    ["a ban", () => rateLimit({ bannedUntil: 1_900_000_000 }), /^The key is banned until 2030-03-17T17:46:40\.000Z: /],
    ["few units", () => rateLimit({ left: 29 }), /^The account has 29 units left, and the checks need up to 30: try/],
    ["a key that only creates", () => rateLimit({ scope: "write" }), /^The key may not list pets/],
    [
      "another program that uses the account",
      ({ url }) => (url?.startsWith("/v1/pets") ? ownPage(429) : undefined),
      /^GET \/v1\/pets\?limit=1 got 429 .*: other programs use this account/,
    ],
  ])("stops with one line at %s", async (_name, answer, reason) => {
    const { exitCode, printed, complained } = await examine({ answer });
    expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
    expect(JSON.parse(complained).error.message).toMatch(reason);
  });

  it("says which error a refused key gets", async () => {
    const { complained } = await examine({}, { apiKey: mintApiKey("live", randomBytes) });
    expect(JSON.parse(complained).error.message).toMatch(/^The store refuses the key: 401 API_KEY_INVALID\. /);
  });

  describeWithProgram("openssl", "over TLS", async () => {
    const certificate = await shared(makeCertificate({ days: 400 }));

    /** In a process of its own, because Node.js reads NODE_EXTRA_CA_CERTS when it starts. */
    async function examineTls(plant: Plant = {}, { using: { cert, key: privateKey, file } } = { using: certificate }) {
      await using balancer = await openTlsBalancer(origins, { cert, key: privateKey }, plant);
      const args = [command, "doctor", "--json", "--url", balancer.url];
      await using program = startProgram({
        name: "petstore",
        args,
        environment: { API_KEY: key, NODE_EXTRA_CA_CERTS: file },
      });
      await program.ended;
      const printed = program.output.filter((line) => !program.errorOutput.includes(line)).join("\n");
      const findings = (printed === "" ? [] : JSON.parse(printed)) as Finding[];
      return { findings, wrong: findings.filter(({ status }) => status === "warning" || status === "fault") };
    }

    it("finds nothing wrong with a right deployment, and uses HTTP/2", async () => {
      const { findings, wrong } = await examineTls();
      expect(wrong).toEqual([]);
      expect(findings).toContainEqual(finding("ok", "http/2", /^works$/));
      expect(findings).toContainEqual(finding("ok", /^certificate of 127\.0\.0\.1:\d+$/, /^accepted, and ends at 20/));
    });

    it.each<[name: string, plant: Plant, found: unknown]>([
      [
        "no Strict-Transport-Security",
        { relay: without("strict-transport-security") },
        finding("warning", "hsts", /lacks/),
      ],
      [
        "other responses over HTTP/2",
        {
          relay: (relayed, request) => {
            if (request.httpVersion === "2.0") without(...quotaHeaders)(relayed, request);
          },
        },
        finding("fault", "http/2", /^GET \/rate_limit over HTTP\/2 got 200 without X-RateLimit-Limit$/),
      ],
    ])("names a balancer with %s, and nothing else", async (_name, plant, found) => {
      expect((await examineTls(plant)).wrong).toEqual([found]);
    });

    it("names a certificate that ends within 14 days", async () => {
      await using ending = await makeCertificate({ days: 10 });
      const { wrong } = await examineTls({}, { using: ending });
      expect(wrong).toEqual([finding("fault", /^certificate of /, /^ends in 9 days, at 20/)]);
    });

    it("sends no key to a server whose certificate is not accepted", async () => {
      const received: unknown[] = [];
      const plant: Plant = { forward: (headers) => void received.push(headers) };
      await using balancer = await openTlsBalancer(origins, certificate, plant);
      const { exitCode, complained } = await runCommand(`doctor --url ${balancer.url}`, { API_KEY: key });
      expect(exitCode).toBe(1);
      expect(complained).toMatch(
        /^The certificate of 127\.0\.0\.1:\d+ is not accepted \(\w+\), so the key was not sent: /,
      );
      expect(received).toEqual([]);
    });
  });

  // The last test, because it deletes the pets.
  it("skips what a store with fewer than two pets cannot show", async () => {
    await query(database.directUrl, "truncate pets cascade");
    const examined = async () =>
      (await examine()).findings.filter(({ status }) => status !== "ok").map(({ check, status }) => [check, status]);
    await expect.poll(examined).toEqual([["etag", "skipped"]]);
  });
});

describe("petstore doctor --url, before it sends a request,", () => {
  const key = mintApiKey("live", randomBytes);

  it.each([
    ["--url https://pets.example", "", "There is no API key: set API_KEY, or write the key to standard input."],
    ["--url https://pets.example", "no-key-at-all", "The text in API_KEY or on standard input is no API key."],
    ["--url http://pets.example", key, "http://pets.example has no TLS, so everybody on the way could read the key"],
    ["--url https://pets.example/shop", key, "--url is the address of the store without a path"],
    ["--url pets.example", key, "--url must be an address that begins with https://"],
    ["--url https://user@pets.example", key, "--url must be an address that begins with https://"],
    ["--url https://pets.example --graphql-url ftp://a.example", key, "--graphql-url must be an address"],
    ["--graphql-url https://pets.example/graphql", key, "Give --url too."],
    ["--url http://127.0.0.1:1", key, "Nothing listens at 127.0.0.1:1: correct --url, or start the balancer."],
    ["--url https://127.0.0.1:1", key, "Nothing listens at 127.0.0.1:1: correct --url, or start the balancer."],
    ["--url https://no-such-host.invalid", key, "The host of no-such-host.invalid"],
  ])("refuses %s with the key %j in one line, and repeats no key", async (words, apiKey, line) => {
    const { exitCode, printed, complained } = await runCommand(`doctor ${words}`, { API_KEY: apiKey });
    expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
    expect(complained).toContain(line);
    expect(complained).not.toMatch(/\n|no-key-at-all|pets_live/);
  });

  it("refuses a server that does not answer in time", async () => {
    await using silent = await openHttpServer(() => {});
    const { complained } = await runCommand(`doctor --url ${silent.url} --timeout 1s`, { API_KEY: key });
    expect(complained).toMatch(/^127\.0\.0\.1:\d+ did not answer within 1 s: /);
  });

  it.each<[name: string, listener: RequestListener, reason: RegExp]>([
    [
      "stops in the middle of its answer",
      (_req, res) => void res.writeHead(200).write("{"),
      /did not answer within 1 s: /,
    ],
    [
      "closes the connection without an answer",
      (_req, res) => void res.writeHead(101, { Connection: "Upgrade", Upgrade: "none" }).end(),
      /cannot be asked: the connection ended without a response\.$/,
    ],
  ])("refuses a server that %s", async (_name, listener, reason) => {
    await using server = await openHttpServer(listener);
    const { exitCode, complained } = await runCommand(`doctor --url ${server.url} --timeout 1s`, { API_KEY: key });
    expect(exitCode).toBe(1);
    expect(complained).toMatch(reason);
  });

  it("explains in one line which alert of TLS it got", async () => {
    // Without a certificate, no cipher is left.
    await using server = await openRawServer(createTlsServer());
    const { complained } = await runCommand(`doctor --url https://127.0.0.1:${server.port}`, { API_KEY: key });
    expect(complained).toMatch(/^127\.0\.0\.1:\d+ cannot be asked: [a-z0-9 ]*alert handshake failure\.$/);
  });

  it.each(["0", "500h", "soon"])("does not understand the timeout %s", async (timeout) => {
    const { exitCode } = await runCommand(`doctor --url http://127.0.0.1:1 --timeout ${timeout}`, { API_KEY: key });
    expect(exitCode).toBe(2);
  });

  it("explains itself in its help", async () => {
    const { exitCode, printed } = await runCommand("doctor --help", {});
    expect(exitCode).toBe(0);
    for (const text of [
      "--url <address>",
      "--graphql-url <address>",
      "--timeout <duration>",
      "API_KEY",
      "creates no pet",
    ])
      expect(printed).toContain(text);
  });
});

describe("petstore doctor --url, of the way to the store,", () => {
  const nowMs = Date.UTC(2027, 0, 1);

  it.each([
    [-1, "fault"],
    [13, "fault"],
    [14, "warning"],
    [29, "warning"],
    [30, "ok"],
  ] as const)("says of a certificate that ends in %s days: %s", (days, status) => {
    const transport = { certificateEndsAtMs: nowMs + days * 86_400_000, speaksHttp2: false };
    const found = checkCertificate("pets.example", transport, nowMs);
    expect(found).toEqual(finding(status, "certificate of pets.example"));
  });

  it.each([
    ["https://pets.example", "https://pets.example/graphql", ["http://pets.example/v1/pets"]],
    ["https://pets.example:8443", "https://pets.example:8443/graphql", [undefined]],
    [
      "https://pets.example",
      "https://graphql.example/graphql",
      ["http://pets.example/v1/pets", "http://graphql.example/graphql"],
    ],
  ])("looks for plain HTTP beside the usual port of HTTPS alone, on each host: %s and %s", (rest, graphql, plain) => {
    const addresses = plainAddressesOf({ rest: new URL(rest), graphql: new URL(graphql) });
    expect(addresses.map((address) => address?.href)).toEqual(plain);
  });

  it.each<[name: string, status: number, headers: Readonly<Record<string, string>>, expected: "ok" | "fault"]>([
    ["redirects to HTTPS", 308, { location: "https://pets.example/v1/pets" }, "ok"],
    ["refuses", 403, {}, "ok"],
    ["redirects to HTTP", 302, { location: "http://www.pets.example/" }, "fault"],
    ["is the store", 401, { "x-ratelimit-limit": "300" }, "fault"],
    ["is a page", 200, {}, "fault"],
  ])(
    "accepts a port of plain HTTP only if it redirects or refuses: one that %s",
    async (_name, status, headers, expected) => {
      await using server = await openHttpServer((_req, res) => void res.writeHead(status, headers).end());
      expect(await checkPlainHttp(new URL(server.url), Date.now)).toEqual(finding(expected, "plain http"));
    },
  );

  it("names a balancer that closes a connection over HTTP/2 without a response", async () => {
    const http2 = createHttp2Server().on("stream", ({ session }) => session?.destroy());
    await using server = await openRawServer(http2);
    const rest = new URL(`http://127.0.0.1:${server.port}`);
    using client = openStoreClient({ rest, graphql: rest }, "", 600_000, {
      now: Date.now,
      randomBytes,
    } as CommandContext);
    const transport = { certificateEndsAtMs: nowMs, speaksHttp2: true };
    expect(await checkHttp2(transport, client)).toEqual(finding("fault", "http/2", /got no response$/));
  });

  it("accepts a closed port of plain HTTP", async () => {
    expect(await checkPlainHttp(new URL("http://127.0.0.1:1"), Date.now)).toEqual(finding("ok", "plain http"));
  });

  it("looks for metrics at the public ports, and at the port of the images on other machines", () => {
    const apis = ["https://pets.example", "https://pets.example/graphql"].map((url) => new URL(url));
    expect(metricsAddresses(apis).map(({ href }) => href)).toEqual([
      "https://pets.example/metrics",
      "http://pets.example:9464/metrics",
    ]);
    expect(metricsAddresses([new URL("http://127.0.0.1:3000")]).map(({ href }) => href)).toEqual([
      "http://127.0.0.1:3000/metrics",
    ]);
  });
});

it("leads to sections of the operations guide that exist", async () => {
  const guide = await readFile(new URL("tools/deploy/operations.md", repository), "utf8");
  expect(anchorsOf(guide)).toEqual(expect.arrayContaining([...guideSections]));
});

async function openRawServer(server: NetServer) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

interface RateLimitAnswer {
  readonly left?: number;
  readonly bannedUntil?: number;
  readonly scope?: "write";
}

/** What a store may say about a key. */
function rateLimit({ left = 100, bannedUntil, scope }: RateLimitAnswer) {
  const window = { limit: 100, used: 0, remaining: left, reset: 1_900_000_000 };
  const body = { minute: window, day: window, bannedUntil: bannedUntil ?? null, key: { scope: scope ?? "both" } };
  const page = ownPage(200, { "content-type": "application/json" });
  return { ...page, body: Buffer.from(JSON.stringify(body)) };
}
