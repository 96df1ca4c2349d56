import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { choosePort } from "@petstore/embedded-postgres";
import { createTestDatabase, describeWithProgram, shared } from "@petstore/harness";
import { isAnswering, openHttpServer, startShippedBalancer } from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";
import type { IIngress } from "kubernetes-models/networking.k8s.io/v1";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { graphqlMain, issueKey, read, restMain, run } from "./commands.js";
import { makeSecrets } from "./containers.js";

interface RouteRule {
  readonly backendRefs: readonly [{ readonly name: string }];
  readonly matches: readonly { readonly path: { readonly type: string; readonly value: string } }[];
}

const haproxyFile = new URL("../haproxy.cfg", import.meta.url);

describeWithProgram(["haproxy", "curl"], "the balancer, as HAProxy", async () => {
  const database = await shared(createTestDatabase());
  const limits = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "1000000"];
  const headers = { Authorization: `Bearer ${await issueKey(database.url, ...limits)}` };
  const environment = { DATABASE_URL: database.url };
  const rest = await shared(startService({ main: restMain, environment }));

  /** Unlike fetch, leaves the body as it arrives. */
  async function send(origin: string, path: string, fields: Readonly<Record<string, string>>, method = "GET") {
    const sent = request(`${origin}${path}`, { method, headers: { ...headers, ...fields }, agent: false });
    const [response] = (await once(sent.end(), "response")) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  }

  async function createPets(origin: string, count: number): Promise<void> {
    const create = async (index: number) => {
      const body = JSON.stringify({ name: `Pet ${index}`, categoryId: index % 7 });
      const init = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body };
      return (await fetch(`${origin}/v1/pets`, init)).status;
    };
    await expect.poll(() => create(0)).toBe(201);
    for (let index = 1; index < count; index += 1) expect(await create(index)).toBe(201);
  }

  it("loses no request while an instance under load stops", async () => {
    await using stopping = await startService({
      main: restMain,
      environment: { ...environment, SHUTDOWN_GRACE_MS: "2000" },
    });
    await using balancer = await startShippedBalancer(haproxyFile, { rest: [stopping.port, rest.port] });
    const list = async () => (await fetch(`${balancer.origin}/v1/pets`, { headers })).status;
    await expect.poll(list).toBe(200);

    const stopped = stopping.stop();
    const statuses: number[] = [];
    while (!stopping.hasEnded()) statuses.push(...(await Promise.all(Array.from({ length: 8 }, list))));
    expect(await stopped).toBe(0);
    for (let count = 0; count < 20; count += 1) statuses.push(await list());
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it("sends the requests of a key to one instance, and moves only the keys of an instance that stops", async () => {
    await using group = await startNamedServers(4);
    await using balancer = await startBalancerWith(withoutBound, group.ports);
    const keys = Array.from({ length: 60 }, (_, index) => `Bearer pets_live_${index}`);
    const instancesOf = async () => {
      const servers: string[] = [];
      for (const key of keys) servers.push(await whoServes(balancer.port, key));
      return servers;
    };
    const before = await instancesOf();
    expect(new Set(before).size).toBe(4);
    expect(await instancesOf()).toEqual(before);

    const stopped = await group.stopOne();
    const moving = keys[before.indexOf(stopped)] ?? "";
    await expect.poll(() => whoServes(balancer.port, moving)).not.toBe(stopped);
    const after = await instancesOf();
    expect(after).not.toContain(stopped);
    const stayed = before.map((server, index) => (server === stopped ? after[index] : server));
    expect(after).toEqual(stayed);
  });

  it("spreads requests without a key by the address of the client", async () => {
    await using group = await startNamedServers(4);
    await using balancer = await startBalancerWith(withoutBound, group.ports);
    for (const authorization of [undefined, ""]) {
      const servers: string[] = [];
      for (let client = 1; client <= 40; client += 1) {
        const address = `127.0.1.${client}`;
        const server = await whoServes(balancer.port, authorization, address);
        expect(await whoServes(balancer.port, authorization, address)).toBe(server);
        servers.push(server);
      }
      expect(new Set(servers).size).toBe(4);
    }
  });

  it("logs no key, even if every request is logged", async () => {
    const receiver = createSocket("udp4").bind(0, "127.0.0.1");
    await once(receiver, "listening");
    const lines: string[] = [];
    receiver.on("message", (line) => lines.push(`${line}`));
    const logEverything = (shipped: string) =>
      shipped
        .replace(
          "log stdout format raw local0 notice",
          `log 127.0.0.1:${receiver.address().port} format raw local0 info`,
        )
        .replace("option dontlog-normal", "");
    await using group = await startNamedServers(1);
    await using balancer = await startBalancerWith(logEverything, group.ports);
    await whoServes(balancer.port, headers.Authorization);
    await expect.poll(() => lines.join("\n")).toContain("GET /v1/pets");
    receiver.close();
    expect(lines.join("\n")).not.toContain(headers.Authorization.slice("Bearer ".length));
  });

  it("leads every link and file of every page to a service that has it", async () => {
    await using graphql = await startService({ main: graphqlMain, environment });
    await using balancer = await startShippedBalancer(haproxyFile, { rest: [rest.port], graphql: [graphql.port] });
    for (const path of ["/", "/graphiql"]) {
      await expect.poll(async () => (await fetch(`${balancer.origin}${path}`)).status).toBe(200);
    }

    const paths = await linkedPaths(balancer.origin);
    expect(paths).toEqual(expect.arrayContaining(["/usage", "/graphiql", "/docs/graphql/quickstart", "/docs/limits"]));
    // The paths that no page links to. Only the GraphQL API has a list of errors.
    for (const path of ["/graphql", "/v1/pets", "/rate_limit"]) {
      const body = await (await fetch(`${balancer.origin}${path}`)).text();
      expect(body.includes('"errors"'), path).toBe(path === "/graphql");
    }
  });

  it("sends the same paths to the GraphQL service as the Gateway and the Ingress", async () => {
    const configuration = await read("haproxy.cfg");
    const listed = [...configuration.matchAll(/^ *acl is_graphql (path|path_beg) (.+)$/gm)].flatMap(
      ([, match, paths = ""]) => paths.split(" ").map((path) => [match === "path" ? "Exact" : "Prefix", path]),
    );
    const ingress = parse(await read("kubernetes/ingress/ingress.yaml")) as IIngress;
    const paths = ingress.spec?.rules?.flatMap(({ http }) => http?.paths ?? []) ?? [];
    const toGraphql = paths.filter(({ backend }) => backend.service?.name === "graphql");
    expect(toGraphql.map(({ path, pathType }) => [pathType, pathType === "Prefix" ? `${path}/` : path])).toEqual(
      listed,
    );

    const documents = parseAllDocuments(await read("kubernetes/base/gateway.yaml")).map((each) => each.toJS());
    const route = documents.find(({ kind, metadata }) => kind === "HTTPRoute" && metadata.name === "petstore");
    const rules = route.spec.rules as readonly RouteRule[];
    const matches = rules.filter(({ backendRefs: [to] }) => to.name === "graphql").flatMap((rule) => rule.matches);
    // The type PathPrefix compares whole segments, as Prefix of an Ingress does.
    const routed = matches.map(({ path: { type, value } }) =>
      type === "PathPrefix" ? ["Prefix", `${value}/`] : [type, value],
    );
    expect(routed).toEqual(listed);
  });

  it("compresses a page of 100 pets to less than a fifth, and leaves the pets as they are", async () => {
    await using balancer = await startShippedBalancer(haproxyFile, { rest: [rest.port] });
    await createPets(balancer.origin, 101);
    const path = "/v1/pets?limit=100";
    const plain = await send(balancer.origin, path, { "Accept-Encoding": "identity" });
    const zipped = await send(balancer.origin, path, { "Accept-Encoding": "gzip, br" });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", "content-type": plain.headers["content-type"] });
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    expect(JSON.parse(plain.body.toString())).toHaveLength(100);
    expect(zipped.body.length).toBeLessThan(plain.body.length / 5);
    for (const { headers } of [plain, zipped]) expect(headers.vary).toBe("Accept-Encoding");
  });

  it("gives the compressed page a weak ETag of its own, and 304 to a client that has it", async () => {
    await using balancer = await startShippedBalancer(haproxyFile, { rest: [rest.port] });
    await createPets(balancer.origin, 2);
    const ask = (fields: Readonly<Record<string, string>>) => send(balancer.origin, "/v1/pets?limit=1", fields);
    await expect.poll(async () => (await ask({})).headers.etag).toMatch(/^"/);
    const strong = `${(await ask({})).headers.etag}`;
    const weak = `${(await ask({ "Accept-Encoding": "gzip" })).headers.etag}`;
    expect(weak).toBe(`W/${strong}`);
    for (const [encoding, etag] of [
      ["gzip", weak],
      ["identity", strong],
      ["gzip;q=0", strong],
      ["*;q=0.0", strong],
    ] as const) {
      const unchanged = await ask({ "Accept-Encoding": encoding, "If-None-Match": etag });
      expect(unchanged, encoding).toMatchObject({ status: 304, headers: { etag, vary: "Accept-Encoding" } });
      expect(unchanged.body).toHaveLength(0);
    }
  });

  it.each(["gzip", "identity", "gzip;q=0"])(
    "answers HEAD with the headers of GET, with Accept-Encoding: %s",
    async (encoding) => {
      await using graphql = await startService({ main: graphqlMain, environment });
      await using balancer = await startShippedBalancer(haproxyFile, { rest: [rest.port], graphql: [graphql.port] });
      await createPets(balancer.origin, 2);
      await expect.poll(async () => (await fetch(`${balancer.origin}/graphiql`)).status).toBe(200);
      for (const path of [
        "/v1/pets?limit=1",
        "/rate_limit",
        "/openapi.json",
        "/graphql?query=%7Bpets%7Bid%7D%7D",
        "/v1/none",
      ]) {
        const ask = (method: string) => send(balancer.origin, path, { "Accept-Encoding": encoding }, method);
        const [get, head] = [await ask("GET"), await ask("HEAD")];
        expect(head.body).toHaveLength(0);
        expect(comparable(head), path).toEqual(comparable(get));
      }
    },
  );

  it("leaves alone what a service has compressed, and errors", async () => {
    await using balancer = await startShippedBalancer(haproxyFile, { rest: [rest.port] });
    const encoded = { "Accept-Encoding": "gzip" };
    const file = await send(balancer.origin, "/openapi.json", encoded);
    expect(file.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    expect(JSON.parse(gunzipSync(file.body).toString())).toHaveProperty("openapi");
    const error = await send(balancer.origin, "/v1/pets?limit=0", encoded);
    expect(error).toMatchObject({ status: 400, headers: { vary: "Accept-Encoding" } });
    expect(JSON.parse(error.body.toString())).toMatchObject({ code: "VALIDATION_FAILED" });
  });

  it("terminates TLS with the certificate it is given, and then asks browsers for nothing but HTTPS", async () => {
    await using secrets = await makeSecrets();
    const secret = (name: string) => readFile(join(secrets.path, name), "utf8");
    const certificate = join(secrets.path, "balancer.pem");
    await writeFile(certificate, `${await secret("redis.crt")}${await secret("redis.key")}`);
    const port = await choosePort(undefined);
    await using balancer = await startShippedBalancer(
      haproxyFile,
      {},
      { TLS_CERTIFICATE: certificate, TLS_PORT: `${port}` },
    );
    const authority = ["--cacert", join(secrets.path, "authority.crt")];
    const address = ["--resolve", `redis:${port}:127.0.0.1`, `https://redis:${port}`];
    const { stdout } = await run("curl", ["--silent", "--include", ...authority, ...address]);
    expect(stdout).toMatch(/^HTTP\/2 503 .*^strict-transport-security: max-age=31536000\r$/ms);
    expect((await fetch(balancer.origin)).headers.get("Strict-Transport-Security")).toBeNull();
  });

  it("keeps 1,000 connections of a client address, closes further ones, and serves other addresses", async () => {
    await using balancer = await startShippedBalancer(haproxyFile, { rest: [rest.port] });
    const port = Number(new URL(balancer.origin).port);
    const sockets: Socket[] = [];
    const open = (localAddress: string) => {
      const socket = connect({ host: "127.0.0.1", port, localAddress });
      sockets.push(socket);
      // The balancer may reset a connection that it refuses.
      socket.on("error", () => {});
      return socket;
    };
    const isServed = (localAddress: string) =>
      new Promise<boolean>((resolve) => {
        const socket = open(localAddress);
        socket.write("GET /v1/pets HTTP/1.1\r\nHost: petstore\r\n\r\n");
        socket.once("data", () => resolve(true));
        socket.once("close", () => resolve(false));
      });

    // The connection of `startShippedBalancer` comes from 127.0.0.1.
    const kept = await Promise.all(Array.from({ length: 1_000 }, () => isServed("127.0.0.2")));
    expect(kept.filter((served) => !served)).toEqual([]);
    expect([await isServed("127.0.0.2"), await isServed("127.0.0.3")]).toEqual([false, true]);
    sockets[0]?.destroy();
    await expect.poll(() => isServed("127.0.0.2")).toBe(true);
    for (const socket of sockets) socket.destroy();
  });

  it("leaves the answer to the services while none is ready, and gives it the same shape while none is there", async () => {
    const port = await choosePort(undefined);
    await using balancer = await startShippedBalancer(haproxyFile, { rest: [port] });
    const alone = await fetch(`${balancer.origin}/v1/pets`);
    expect(alone.headers.get("Retry-After")).toBe("1");
    expect(await alone.json()).toEqual({ code: "SERVICE_UNAVAILABLE", message: expect.any(String), status: 503 });

    const environment = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none", TRUST_PROXY: "127.0.0.0/8" };
    await using service = await startService({ main: restMain, environment, port });
    expect(await isAnswering(`${service.origin}/readyz`)).toBe(false);
    const fetchAs = (address: string) =>
      fetch(`${balancer.origin}/v1/pets`, { headers: { "X-Forwarded-For": address } });
    await expect.poll(async () => (await fetchAs("203.0.113.7")).status).toBe(401);
    const remaining = Number((await fetchAs("203.0.113.7")).headers.get("X-RateLimit-Remaining"));
    // The balancer names the address of the client. A client gets no units by naming another one.
    expect(Number((await fetchAs("203.0.113.8")).headers.get("X-RateLimit-Remaining"))).toBe(remaining - 1);
  });
});

/** Servers that are ready, and name themselves in every response. */
async function startNamedServers(count: number) {
  const servers = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const name = `server ${index}`;
      return { name, ...(await openHttpServer((_req, res) => void res.setHeader("X-Server", name).end())) };
    }),
  );
  return {
    ports: servers.map(({ url }) => Number(new URL(url).port)),
    /** Returns the name of the server that it has stopped. */
    async stopOne(): Promise<string> {
      const [first] = servers;
      await first?.[Symbol.asyncDispose]();
      return `${first?.name}`;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const server of servers.slice(1)) await server[Symbol.asyncDispose]();
    },
  };
}

/** The shipped HAProxy with a change of its configuration. */
function startBalancerWith(change: (shipped: string) => string, ports: readonly number[]) {
  return startShippedBalancer(haproxyFile, { rest: ports }, {}, change);
}

/** On a busy machine, a request may still count as in flight when the next one comes, which then goes to another server. */
function withoutBound(shipped: string): string {
  return shipped.replace(/^ *hash-balance-factor .*\n/m, "");
}

/** The name of the server that has responded. */
async function whoServes(port: number, authorization: string | undefined, localAddress = "127.0.0.1"): Promise<string> {
  const headers = authorization === undefined ? {} : { Authorization: authorization };
  const sent = request({ host: "127.0.0.1", port, path: "/v1/pets", headers, localAddress, agent: false });
  const [response] = (await once(sent.end(), "response")) as [IncomingMessage];
  await buffer(response);
  return `${response.headers["x-server"]}`;
}

/** A request that follows another one may differ in these headers. The last two say only how a body is framed. */
const differing = ["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit"];
const framing = ["connection", "transfer-encoding"];

function comparable({
  status,
  headers,
}: {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
}) {
  const compared = Object.entries(headers).filter(([name]) => ![...differing, ...framing].includes(name));
  return { status, headers: Object.fromEntries(compared) };
}

/** Every path of this origin that the first page leads to, over any number of links. Each of them must answer 200. */
async function linkedPaths(origin: string): Promise<string[]> {
  const paths = new Set(["/"]);
  for (const path of paths) {
    const response = await fetch(`${origin}${path}`);
    expect(response.status, path).toBe(200);
    const text = await response.text();
    if (!response.headers.get("Content-Type")?.startsWith("text/html")) continue;
    for (const [, link = ""] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
      const target = new URL(link, `${origin}${path}`);
      if (target.origin === origin) paths.add(target.pathname);
    }
  }
  return [...paths];
}
