import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { choosePort } from "@petstore/embedded-postgres";
import { createTestDatabase, describeWithProgram } from "@petstore/harness";
import { isAnswering } from "@petstore/harness/network";
import { openTogether } from "@petstore/harness/processes";
import type { IIngress } from "kubernetes-models/networking.k8s.io/v1";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { answerNames, askOverTls, makeSecrets, startHaproxy } from "./containers.js";
import { issueKey, petstore, startService } from "./image.js";

describeWithProgram("haproxy", "the balancer, as HAProxy", () => {
  it("loses no request while an instance under load is told to stop", async () => {
    await using database = await createTestDatabase();
    const limits = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "1000000"];
    const key = await issueKey(database.url, ...limits);
    const environment = { DATABASE_URL: database.url, SHUTDOWN_GRACE_MS: "2000" };
    await using balancer = await startBalancer({ rest: ["127.0.0.2", "127.0.0.3"] });
    await using stopping = await startService("rest", environment, { host: "127.0.0.2", port: balancer.servicePort });
    await using _staying = await startService("rest", environment, { host: "127.0.0.3", port: balancer.servicePort });
    const headers = { Authorization: `Bearer ${key}` };
    const list = async () => (await fetch(`${balancer.origin}/v1/pets`, { headers })).status;
    await expect.poll(list).toBe(200);

    const statuses: number[] = [];
    let isOver = false;
    const callers = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        statuses.push(await list());
        await sleep(10);
      }
    });
    const hundredMore = (before: number) => expect.poll(() => statuses.length).toBeGreaterThan(before + 100);
    await hundredMore(0);
    expect(await stopping.stop()).toBe(0);
    await hundredMore(statuses.length);
    isOver = true;
    await Promise.all(callers);
    process.stdout.write(`${statuses.length} requests while one of two instances stopped\n`);
    expect(new Set(statuses)).toEqual(new Set([200]));
  }, 180_000);

  it("leads every link and file of every page to a service that has it", async () => {
    await using database = await createTestDatabase();
    await petstore(database.url, "migrate");
    const environment = { DATABASE_URL: database.url };
    await using balancer = await startBalancer({ rest: ["127.0.0.5"], graphql: ["127.0.0.6"] });
    await using _rest = await startService("rest", environment, { host: "127.0.0.5", port: balancer.servicePort });
    await using _graphql = await startService("graphql", environment, {
      host: "127.0.0.6",
      port: balancer.servicePort,
    });
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

  it("sends the same paths to the GraphQL service as the Ingress", async () => {
    const configuration = await readFile(new URL("../haproxy.cfg", import.meta.url), "utf8");
    const listed = [...configuration.matchAll(/^ *acl is_graphql (path|path_beg) (.+)$/gm)].flatMap(
      ([, match, paths = ""]) => paths.split(" ").map((path) => [match === "path" ? "Exact" : "Prefix", path]),
    );
    const ingress = await readFile(new URL("../kubernetes/base/ingress.yaml", import.meta.url), "utf8");
    const paths = (parse(ingress) as IIngress).spec?.rules?.flatMap(({ http }) => http?.paths ?? []) ?? [];
    const rules = paths.filter(({ backend }) => backend.service?.name === "graphql");
    expect(rules.map(({ path, pathType }) => [pathType, pathType === "Prefix" ? `${path}/` : path])).toEqual(listed);
  });

  it("terminates TLS with the certificate it is given, and then asks browsers for nothing but HTTPS", async () => {
    await using secrets = await makeSecrets();
    const authority = await readFile(join(secrets.path, "authority.crt"));
    const tlsCertificate = join(secrets.path, "balancer.pem");
    const parts = ["redis.crt", "redis.key"].map((name) => readFile(join(secrets.path, name), "utf8"));
    await writeFile(tlsCertificate, (await Promise.all(parts)).join(""));
    const tlsPort = await choosePort(undefined);
    await using balancer = await startBalancer({}, { TLS_CERTIFICATE: tlsCertificate, TLS_PORT: `${tlsPort}` });
    const request = "GET / HTTP/1.1\r\nHost: petstore\r\nConnection: close\r\n\r\n";
    const secure = await askOverTls({ port: tlsPort, servername: "redis", ca: authority }, request);
    expect(secure).toMatch(/^HTTP\/1\.1 503 /);
    expect(secure).toMatch(/^strict-transport-security: max-age=31536000\r$/im);
    expect((await fetch(balancer.origin)).headers.get("Strict-Transport-Security")).toBeNull();
  });

  it("leaves the answer to the services while none is ready, and gives it the same shape while none is there", async () => {
    await using balancer = await startBalancer({ rest: ["127.0.0.2"] });
    const alone = await fetch(`${balancer.origin}/v1/pets`);
    expect(alone.headers.get("Retry-After")).toBe("1");
    expect(await alone.json()).toEqual({ code: "SERVICE_UNAVAILABLE", message: expect.any(String), status: 503 });

    const environment = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none", TRUST_PROXY: "127.0.0.0/8" };
    await using service = await startService("rest", environment, { host: "127.0.0.2", port: balancer.servicePort });
    expect(await isAnswering(`${service.origin}/readyz`)).toBe(false);
    const fetchWithoutKey = () =>
      fetch(`${balancer.origin}/v1/pets`, { headers: { "X-Forwarded-For": "203.0.113.7" } });
    await expect.poll(async () => (await fetchWithoutKey()).status).toBe(401);
    const remaining = (await fetchWithoutKey()).headers.get("X-RateLimit-Remaining");
    expect(remaining).toMatch(/^\d+$/);

    // The balancer names the address of the client. A client gets no units by naming another one.
    const elsewhere = { headers: { "X-Forwarded-For": "203.0.113.8" } };
    const next = (await fetch(`${balancer.origin}/v1/pets`, elsewhere)).headers.get("X-RateLimit-Remaining");
    expect(Number(next)).toBe(Number(remaining) - 1);
  });
});

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

/** HAProxy of compose.yaml, for services with these addresses. All of them listen on `servicePort`. */
function startBalancer(
  addresses: Readonly<Record<string, readonly string[]>>,
  settings: Readonly<Record<string, string>> = {},
) {
  return openTogether(async (use) => {
    const [port, servicePort] = [await choosePort(undefined), await choosePort(undefined)];
    const names = use(await answerNames(addresses));
    const ports = { SERVICE_PORT: `${servicePort}`, BALANCER_PORT: `${port}` };
    const program = use(startHaproxy("haproxy.cfg", { DNS_ADDRESS: names.address, ...ports, ...settings }));
    const origin = `http://127.0.0.1:${port}`;
    // Any answer is enough: no service may be reachable yet.
    await program.until(async () => (await fetch(origin).catch(() => undefined)) !== undefined);
    return { origin, servicePort };
  });
}
