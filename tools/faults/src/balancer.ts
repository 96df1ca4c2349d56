import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { choosePort } from "@petstore/embedded-postgres";
import type { Service } from "./service.js";

/** A real HAProxy before the services, by their APIs' paths. It asks `/readyz`, and repeats nothing that failed. */
export interface Balancer extends AsyncDisposable {
  readonly origin: string;
  /** Resolves when HAProxy counts so many services as up. */
  untilUp(count: number): Promise<void>;
}

/** What HAProxy takes to notice that a service is to be left alone: a grace must be longer. */
export const noticesWithinMs: number = 2 * 200;

const timeoutMs = 15_000;

export async function startBalancer(services: readonly Service[]): Promise<Balancer> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-balancer-"));
  const [configFile, statsSocket] = [join(directory, "haproxy.cfg"), join(directory, "stats")];
  const port = await choosePort(undefined);
  await writeFile(configFile, configuration(services, port, statsSocket));
  const child = spawn("haproxy", ["-db", "-q", "-f", configFile], { stdio: ["ignore", "ignore", "pipe"] });
  const said = text(child.stderr);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`haproxy does not start: ${error.message}`));
    child.once("close", async () => resolve(`haproxy has ended: ${(await said).slice(0, 500)}`));
  });
  const orphan = () => child.kill("SIGKILL");
  process.once("exit", orphan);

  async function countUp(): Promise<number> {
    const table = await ask(statsSocket, "show stat").catch(() => "");
    return table.split("\n").filter((line) => /^[^,]+,service\d+,/.test(line) && line.split(",")[17] === "UP").length;
  }

  const balancer: Balancer = {
    origin: `http://127.0.0.1:${port}`,
    async untilUp(count) {
      const startMs = performance.now();
      while ((await countUp()) !== count) {
        const ended = await Promise.race([exited, sleep(20)]);
        if (ended !== undefined) throw new Error(ended);
        if (performance.now() - startMs > timeoutMs) throw new Error(`HAProxy does not see ${count} services up`);
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
      process.off("exit", orphan);
      await rm(directory, { recursive: true, force: true });
    },
  };
  return balancer.untilUp(services.length).then(
    () => balancer,
    async (error: unknown) => {
      await balancer[Symbol.asyncDispose]();
      throw error;
    },
  );
}

function configuration(services: readonly Service[], port: number, statsSocket: string): string {
  const apis = [...new Set(services.map(({ api }) => api))];
  const backends = apis.map(
    (api) => `
backend ${api.name}
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host petstore
  default-server check inter 200ms fall 1 rise 1
${services.map((one, index) => (one.api === api ? `  server service${index} 127.0.0.1:${one.port}\n` : "")).join("")}`,
  );
  return `global
  maxconn 4000
  stats socket ${statsSocket} mode 600 level operator
defaults
  mode http
  # Whatever fails is the callers' to see.
  retries 0
  timeout connect 1s
  timeout check 1s
  timeout client 30s
  timeout server 30s
frontend all
  bind 127.0.0.1:${port}
${apis.map(({ name, path }) => `  use_backend ${name} if { path_beg ${path} }`).join("\n")}
  default_backend ${apis[0]?.name}
${backends.join("")}`;
}

async function ask(socketPath: string, command: string): Promise<string> {
  const socket = connect(socketPath);
  await once(socket, "connect");
  socket.end(`${command}\n`);
  return text(socket);
}
