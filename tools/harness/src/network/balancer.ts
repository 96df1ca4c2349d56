import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { choosePort } from "@petstore/embedded-postgres";
import { searchPath } from "../processes/installed-program.js";
import { disposeOnFailure, startProgram } from "../processes/program.js";
import { openTemporaryDirectory } from "../processes/standalone-store.js";

export interface BalancerBackend {
  /** The backend serves the paths with this prefix. The first one serves all other paths too. */
  readonly path: string;
  readonly ports: readonly number[];
}

/** HAProxy in front of services. It checks `/readyz` and does not repeat failed requests. */
export interface Balancer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Resolves when HAProxy counts this number of services as up. */
  untilUp(count: number): Promise<void>;
}

/** HAProxy stops using an instance at most this long after `/readyz` fails. A drain grace must be longer. */
export const noticesWithinMs: number = 2 * 200;

export function startBalancer(backends: readonly BalancerBackend[]): Promise<Balancer> {
  const services = backends.flatMap(({ ports }) => ports).length;
  return startHaproxy((port, statsSocket) => configuration(backends, port, statsSocket), services);
}

/** Resolves when it counts this number of servers as up. Their names have to begin with `service`. */
export async function startHaproxy(
  configure: (port: number, statsSocket: string) => string,
  up: number,
): Promise<Balancer> {
  const directory = await openTemporaryDirectory();
  const [configFile, statsSocket] = [join(directory.path, "haproxy.cfg"), join(directory.path, "stats")];
  const port = await choosePort(undefined);
  await writeFile(configFile, configure(port, statsSocket));
  const program = startProgram({
    name: "HAProxy",
    command: "haproxy",
    args: ["-db", "-q", "-f", configFile],
    environment: { PATH: searchPath() },
  });

  async function countUp(): Promise<number> {
    const table = await query(statsSocket, "show stat").catch(() => "");
    return table.split("\n").filter((line) => /^[^,]+,service\d+,/.test(line) && line.split(",")[17] === "UP").length;
  }

  const balancer: Balancer = {
    origin: `http://127.0.0.1:${port}`,
    port,
    untilUp: (count) => program.until(async () => (await countUp()) === count),
    async [Symbol.asyncDispose]() {
      await program.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
  await disposeOnFailure(balancer, balancer.untilUp(up));
  return balancer;
}

function configuration(backends: readonly BalancerBackend[], port: number, statsSocket: string): string {
  const names = backends.map((_, index) => `backend${index}`);
  return `global
  maxconn 4000
  stats socket ${statsSocket} mode 600 level operator
defaults
  mode http
  # The clients must see every failure.
  retries 0
  timeout connect 1s
  timeout check 1s
  timeout client 30s
  timeout server 30s
frontend all
  bind 127.0.0.1:${port}
${backends.map(({ path }, index) => `  use_backend ${names[index]} if { path_beg ${path} }`).join("\n")}
  default_backend ${names[0]}
${backends.map(({ ports }, index) => backendSection(names[index] ?? "", ports)).join("")}`;
}

function backendSection(name: string, ports: readonly number[]): string {
  const servers = ports.map((port, index) => `  server service${index} 127.0.0.1:${port}\n`);
  return `
backend ${name}
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host petstore
  default-server check inter 200ms fall 1 rise 1
${servers.join("")}`;
}

async function query(socketPath: string, command: string): Promise<string> {
  const socket = connect(socketPath);
  await once(socket, "connect");
  socket.end(`${command}\n`);
  return text(socket);
}
