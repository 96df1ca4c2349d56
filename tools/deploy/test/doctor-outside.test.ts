import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort } from "@petstore/embedded-postgres";
import { createTestDatabase, describeWithProgram, shared } from "@petstore/harness";
import { isAnswering, makeCertificate, startShippedBalancer } from "@petstore/harness/network";
import { query } from "@petstore/harness/postgres";
import { markedCommands, openTemporaryDirectory, runCommands, startService } from "@petstore/harness/processes";
import { openRedisServer } from "@petstore/harness/redis";
import { expect, it } from "vitest";
import { graphqlMain, issueKey, restMain } from "./commands.js";

const haproxyFile = new URL("../haproxy.cfg", import.meta.url);

describeWithProgram(
  ["haproxy", "openssl", "redis-server"],
  "petstore doctor --url, as the guide runs it,",
  async () => {
    const database = await shared(createTestDatabase());
    const limits = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "1000000"];
    const key = await issueKey(database.url, ...limits);
    const redis = await shared(openRedisServer());
    const environment = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      // On a busy machine, a slow Redis would be an outage.
      REDIS_COMMAND_TIMEOUT_MS: "5000",
      QUOTA_INSTANCES: "4",
      TRUST_PROXY: "127.0.0.0/8",
    };
    const start = (main: URL) => shared(startService({ main, environment }));
    const rest = [await start(restMain), await start(restMain)];
    const graphql = [await start(graphqlMain), await start(graphqlMain)];
    await query(
      database.directUrl,
      "insert into pets (name, category_id, status) select 'Pet ' || n, n, 'available' from generate_series(1, 120) n",
    );

    it("finds nothing wrong with two instances of each API behind the HAProxy here, with TLS", async () => {
      await using certificate = await makeCertificate({ days: 400 });
      await using home = await openTemporaryDirectory();
      const pem = join(home.path, "balancer.pem");
      await writeFile(pem, `${certificate.cert}${certificate.key}`);
      await mkdir(join(home.path, "petstore-private"));
      await writeFile(join(home.path, "petstore-private/api-key"), `${key}\n`);
      const port = await choosePort(undefined);
      await using balancer = await startShippedBalancer(
        haproxyFile,
        { rest: rest.map((service) => service.port), graphql: graphql.map((service) => service.port) },
        { TLS_CERTIFICATE: pem, TLS_PORT: `${port}` },
      );
      for (const path of ["/", "/graphiql"])
        await expect.poll(() => isAnswering(`${balancer.origin}${path}`)).toBe(true);

      const commands = await markedCommands("tools/deploy/operations.md", "doctor-outside");
      const printed = await runCommands(commands.replace("https://pets.example", `https://127.0.0.1:${port}`), {
        PATH: process.env.PATH,
        HOME: home.path,
        NODE_EXTRA_CA_CERTS: certificate.file,
      });
      const lines = printed.trimEnd().split("\n");
      expect(lines.filter((line) => !line.startsWith("ok "))).toEqual([
        "skipped  plain http: the port of --url is not 443, so that of plain HTTP is not known",
      ]);
      expect(lines).toContain("ok       http/2: works");
      expect(lines).toContain("ok       error 413: comes from the services");
      expect(lines.at(-1)).toMatch(/^ok {7}units: the checks have used [12]\d units of the account$/);
    });
  },
);
