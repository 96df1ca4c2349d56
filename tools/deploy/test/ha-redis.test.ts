// Redis and Sentinel of compose.ha.yaml, with their configuration and commands, on the programs of this machine.
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { describeWithRedis } from "@petstore/harness";
import { openTemporaryDirectory, type Program, startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { readComposeHa } from "./compose-ha-file.js";
import { makeSecrets } from "./secrets.js";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../", import.meta.url));
const addresses = { redis1: "127.0.0.31", redis2: "127.0.0.32", sentinel1: "127.0.0.33", sentinel2: "127.0.0.34" };
const timeout = 120_000;

describeWithRedis("Redis of compose.ha.yaml", () => {
  it("has a replica, which two Sentinels promote when the primary is gone", { timeout: 300_000 }, async () => {
    await using directory = await openTemporaryDirectory();
    await using secrets = await makeSecrets();
    const ports = { redis: await choosePort(undefined), sentinel: await choosePort(undefined) };
    const options = { directory: directory.path, secrets: secrets.path, ports };
    const ask = async (name: keyof typeof addresses, ...words: readonly string[]) => {
      const isSentinel = name.startsWith("sentinel");
      const password = await readFile(join(secrets.path, `${isSentinel ? "sentinel" : "redis"}-password`), "utf8");
      const target = ["-h", addresses[name], "-p", `${isSentinel ? ports.sentinel : ports.redis}`];
      const transport = ["--tls", "--cacert", join(secrets.path, "authority.crt")];
      const environment = { PATH: process.env.PATH, REDISCLI_AUTH: password };
      // Until the server listens, redis-cli fails.
      const answer = run("redis-cli", [...target, ...transport, ...words], { env: environment, timeout: 10_000 });
      return await answer.then(({ stdout }) => stdout.trim()).catch(() => "");
    };
    await using primary = await start("redis1", options);
    await using _replica = await start("redis2", options);
    await expect.poll(() => ask("redis2", "INFO", "replication"), { timeout }).toContain("master_link_status:up");
    expect(await ask("redis2", "CONFIG", "GET", "maxmemory-policy")).toContain("noeviction");
    expect(await ask("redis2", "CONFIG", "GET", "min-replicas-to-write")).toBe("min-replicas-to-write\n1");
    await using _one = await start("sentinel1", options);
    await using _other = await start("sentinel2", options);
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
    await using _restarted = await start("redis1", options);
    await expect.poll(() => ask("redis1", "ROLE"), { timeout }).toMatch(/^slave\n127\.0\.0\.32/);
    // In the guide, for a Sentinel that keeps an address that is gone.
    expect(await ask("sentinel1", "SENTINEL", "RESET", "petstore")).toBe("1");
  });
});

interface RedisOptions {
  readonly directory: string;
  readonly secrets: string;
  readonly ports: { readonly redis: number; readonly sentinel: number };
}

/** The command of the container, with the paths, addresses and ports of this machine. */
async function start(name: keyof typeof addresses, { directory, secrets, ports }: RedisOptions): Promise<Program> {
  const compose = await readComposeHa();
  const isHere = (text: string) =>
    text
      .replaceAll(/\/run\/secrets\/([\w-]+)/g, (_, secret: string) => {
        return join(secrets, basename(compose.secrets[secret]?.file ?? "missing"));
      })
      .replaceAll("/etc/petstore/", `${directory}/`)
      .replaceAll(/redis1(?: 6379)?/g, (found) =>
        found === "redis1" ? addresses.redis1 : `${addresses.redis1} ${ports.redis}`,
      )
      .replace("tls-port 6379", `bind ${addresses[name]}\ntls-port ${ports.redis}`)
      .replace("tls-port 26379", `bind ${addresses[name]}\ntls-port ${ports.sentinel}`);
  const file = name.startsWith("sentinel") ? "sentinel.conf" : "redis.conf";
  await writeFile(join(directory, file), isHere(await readFile(join(folder, "ha", file), "utf8")));
  const data = join(directory, name);
  await mkdir(data, { recursive: true });
  const [shell = "", option = "", script = ""] = compose.services[name]?.command ?? [];
  return startProgram({
    name,
    command: shell,
    args: [option, isHere(script).replaceAll("$$", "$")],
    environment: { PATH: process.env.PATH, HOSTNAME: addresses[name] },
    directory: data,
  });
}
