import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { choosePort } from "@petstore/embedded-postgres";
import { startProgram } from "../processes/program.js";
import { openTemporaryDirectory, openTogether } from "../processes/resources.js";

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
  return startHaproxy("http", services, (address) => {
    const rules = backends.map(({ path }, index) => `  use_backend backend${index} if { path_beg ${path} }\n`);
    const sections = backends.map(({ ports }, index) => {
      return `backend backend${index}
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host petstore
  default-server check inter 200ms fall 1 rise 1
${serverLines(ports)}`;
    });
    return `frontend all
  bind ${address}
${rules.join("")}  default_backend backend0
${sections.join("")}`;
  });
}

/** HAProxy in front of PostgreSQL. It forwards to the node whose Patroni answers `/primary` with 200. */
export function startPrimaryBalancer(
  nodes: readonly { readonly port: number; readonly restPort: number }[],
): Promise<Balancer> {
  const servers = nodes.map(({ port, restPort }) => `${port} check port ${restPort}`);
  return startHaproxy(
    "tcp",
    1,
    (address) => `listen primary
  bind ${address}
  option httpchk
  http-check send meth OPTIONS uri /primary
  http-check expect status 200
  # A node that is no longer the primary must not keep the sessions that it had.
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${serverLines(servers)}`,
  );
}

/** Resolves when it counts this number of servers as up. */
function startHaproxy(mode: "http" | "tcp", up: number, sections: (address: string) => string): Promise<Balancer> {
  return openTogether(async (use) => {
    const directory = use(await openTemporaryDirectory());
    const [configFile, statsSocket] = [join(directory.path, "haproxy.cfg"), join(directory.path, "stats")];
    const port = await choosePort(undefined);
    const address = `127.0.0.1:${port}`;
    await writeFile(
      configFile,
      `global
  maxconn 4000
  stats socket ${statsSocket} mode 600 level operator
defaults
  mode ${mode}
  # The clients must see every failure at once.
  retries 0
  timeout connect 1s
  timeout check 1s
  # Longer than any idle connection of a pool lasts.
  timeout client 24h
  timeout server 24h
${sections(address)}`,
    );
    const program = use(startProgram({ name: "HAProxy", command: "haproxy", args: ["-db", "-q", "-f", configFile] }));
    const untilUp = (count: number) => program.until(async () => (await countUp(statsSocket)) === count);
    await untilUp(up);
    return { origin: `http://${address}`, port, untilUp };
  });
}

function serverLines(servers: readonly (number | string)[]): string {
  return servers.map((server, index) => `  server service${index} 127.0.0.1:${server}\n`).join("");
}

async function countUp(statsSocket: string): Promise<number> {
  const socket = connect(statsSocket);
  socket.on("error", () => {});
  socket.end("show stat\n");
  const table = await text(socket).catch(() => "");
  return table.split("\n").filter((line) => /^[^,]+,service\d+,/.test(line) && line.split(",")[17] === "UP").length;
}
