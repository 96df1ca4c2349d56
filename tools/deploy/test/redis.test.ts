// The Redis of both compose files, with their configurations and commands, on the programs of this machine.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithRedis, shared } from "@petstore/harness";
import { openServerDirectory } from "@petstore/harness/postgres";
import { expect, it } from "vitest";
import { run } from "./commands.js";
import { makeSecrets, startContainer } from "./containers.js";

const addresses = { redis1: "127.0.0.31", redis2: "127.0.0.32", sentinel1: "127.0.0.33", sentinel2: "127.0.0.34" };
const timeout = 120_000;
const secrets = await shared(makeSecrets());

/** Runs redis-cli over TLS. Returns nothing until the server listens. */
async function ask(host: string, port: number, password: string, ...words: readonly string[]): Promise<string> {
  const target = ["-h", host, "-p", `${port}`, "--tls", "--cacert", join(secrets.path, "authority.crt")];
  const env = { PATH: process.env.PATH, REDISCLI_AUTH: password };
  const answer = run("redis-cli", [...target, ...words], { env, timeout: 10_000 });
  return await answer.then(({ stdout }) => stdout.trim()).catch(() => "");
}

const passwordOf = (server: string) => readFile(join(secrets.path, `${server}-password`), "utf8");

describeWithRedis("the Redis of the compose files", () => {
  it("speaks TLS, and answers nobody without the password", async () => {
    await using directory = await openServerDirectory();
    const port = await choosePort(undefined);
    await using redis = await startContainer({
      file: "compose.override.yaml",
      name: "redis",
      secrets: secrets.path,
      directory: directory.path,
      replacements: [["6379", `${port}`]],
    });
    await redis.until(async () => (await ask("127.0.0.1", port, "", "PING")) !== "");
    expect(await ask("127.0.0.1", port, "", "PING")).toContain("NOAUTH");
    const policy = await ask("127.0.0.1", port, await passwordOf("redis"), "CONFIG", "GET", "maxmemory-policy");
    expect(policy).toContain("noeviction");
  });

  it("has a replica, which two Sentinels promote when the primary is gone", { timeout: 300_000 }, async () => {
    await using directory = await openServerDirectory();
    const ports = { redis: await choosePort(undefined), sentinel: await choosePort(undefined) };
    const start = (name: keyof typeof addresses) =>
      startContainer({
        file: "compose.ha.yaml",
        name,
        secrets: secrets.path,
        directory: join(directory.path, name),
        environment: { HOSTNAME: addresses[name] },
        replacements: [
          ["redis1 6379", `${addresses.redis1} ${ports.redis}`],
          ["redis1", addresses.redis1],
          ["tls-port 6379", `bind ${addresses[name]}\ntls-port ${ports.redis}`],
          ["tls-port 26379", `bind ${addresses[name]}\ntls-port ${ports.sentinel}`],
        ],
      });
    const askRedis = async (name: "redis1" | "redis2", ...words: readonly string[]) =>
      ask(addresses[name], ports.redis, await passwordOf("redis"), ...words);
    const askSentinel = async (name: "sentinel1" | "sentinel2", ...words: readonly string[]) =>
      ask(addresses[name], ports.sentinel, await passwordOf("sentinel"), "SENTINEL", ...words);
    await using primary = await start("redis1");
    await using _replica = await start("redis2");
    await expect.poll(() => askRedis("redis2", "INFO", "replication"), { timeout }).toContain("master_link_status:up");
    expect(await askRedis("redis2", "CONFIG", "GET", "maxmemory-policy")).toContain("noeviction");
    expect(await askRedis("redis2", "CONFIG", "GET", "min-replicas-to-write")).toBe("min-replicas-to-write\n1");
    await using _one = await start("sentinel1");
    await using _other = await start("sentinel2");
    const quorum = () => askSentinel("sentinel1", "CKQUORUM", "petstore");
    await expect.poll(quorum, { timeout }).toContain("OK 2 usable Sentinels");
    const primaryAddress = () => askSentinel("sentinel2", "GET-MASTER-ADDR-BY-NAME", "petstore");
    expect(await primaryAddress()).toContain(addresses.redis1);

    await primary.kill();
    await expect.poll(primaryAddress, { timeout }).toContain(addresses.redis2);
    // A Redis that starts again is a replica of the new primary.
    await using _restarted = await start("redis1");
    await expect.poll(() => askRedis("redis1", "ROLE"), { timeout }).toMatch(/^slave\n127\.0\.0\.32/);
    // In the guide, for a Sentinel that keeps an address that is gone.
    expect(await askSentinel("sentinel1", "RESET", "petstore")).toBe("1");
  });
});
