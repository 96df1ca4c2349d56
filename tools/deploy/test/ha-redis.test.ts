// Redis and Sentinel of compose.ha.yaml, with their configuration and commands, on the programs of this machine.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithRedis } from "@petstore/harness";
import { openServerDirectory } from "@petstore/harness/postgres";
import { expect, it } from "vitest";
import { makeSecrets, startContainer } from "./containers.js";

const run = promisify(execFile);
const addresses = { redis1: "127.0.0.31", redis2: "127.0.0.32", sentinel1: "127.0.0.33", sentinel2: "127.0.0.34" };
type Name = keyof typeof addresses;
const timeout = 120_000;

describeWithRedis("Redis of compose.ha.yaml", () => {
  it("has a replica, which two Sentinels promote when the primary is gone", { timeout: 300_000 }, async () => {
    await using directory = await openServerDirectory();
    await using secrets = await makeSecrets();
    const ports = { redis: await choosePort(undefined), sentinel: await choosePort(undefined) };
    const start = (name: Name) =>
      startContainer({
        file: "compose.ha.yaml",
        name,
        secrets: secrets.path,
        directory: join(directory.path, name),
        environment: { PATH: process.env.PATH, HOSTNAME: addresses[name] },
        replacements: [
          ["redis1 6379", `${addresses.redis1} ${ports.redis}`],
          ["redis1", addresses.redis1],
          ["tls-port 6379", `bind ${addresses[name]}\ntls-port ${ports.redis}`],
          ["tls-port 26379", `bind ${addresses[name]}\ntls-port ${ports.sentinel}`],
        ],
      });
    const ask = async (name: Name, ...words: readonly string[]) => {
      const server = name.startsWith("sentinel") ? "sentinel" : "redis";
      const password = await readFile(join(secrets.path, `${server}-password`), "utf8");
      const target = ["-h", addresses[name], "-p", `${ports[server]}`];
      const transport = ["--tls", "--cacert", join(secrets.path, "authority.crt")];
      const environment = { PATH: process.env.PATH, REDISCLI_AUTH: password };
      // Until the server listens, redis-cli fails.
      const answer = run("redis-cli", [...target, ...transport, ...words], { env: environment, timeout: 10_000 });
      return await answer.then(({ stdout }) => stdout.trim()).catch(() => "");
    };
    await using primary = await start("redis1");
    await using _replica = await start("redis2");
    await expect.poll(() => ask("redis2", "INFO", "replication"), { timeout }).toContain("master_link_status:up");
    expect(await ask("redis2", "CONFIG", "GET", "maxmemory-policy")).toContain("noeviction");
    expect(await ask("redis2", "CONFIG", "GET", "min-replicas-to-write")).toBe("min-replicas-to-write\n1");
    await using _one = await start("sentinel1");
    await using _other = await start("sentinel2");
    const quorum = () => ask("sentinel1", "SENTINEL", "CKQUORUM", "petstore");
    await expect.poll(quorum, { timeout }).toContain("OK 2 usable Sentinels");
    const primaryAddress = () => ask("sentinel2", "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "petstore");
    expect(await primaryAddress()).toContain(addresses.redis1);

    await ask("redis1", "SET", "counted", "1");
    expect(await ask("redis1", "WAIT", "1", "5000")).toBe("1");
    await primary.kill();
    await expect.poll(primaryAddress, { timeout }).toContain(addresses.redis2);
    expect(await ask("redis2", "GET", "counted")).toBe("1");
    // A Redis that starts again is a replica of the new primary.
    await using _restarted = await start("redis1");
    await expect.poll(() => ask("redis1", "ROLE"), { timeout }).toMatch(/^slave\n127\.0\.0\.32/);
    // In the guide, for a Sentinel that keeps an address that is gone.
    expect(await ask("sentinel1", "SENTINEL", "RESET", "petstore")).toBe("1");
  });
});
