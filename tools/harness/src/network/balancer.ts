import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { choosePort } from "@petstore/embedded-postgres";
import { type Program, startProgram } from "../processes/program.js";
import { openTemporaryDirectory, openTogether } from "../processes/resources.js";

/** HAProxy in front of several servers. It does not repeat failed requests. */
export interface Balancer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Resolves when HAProxy counts this number of servers as up. */
  untilUp(count: number): Promise<void>;
}

/** HAProxy stops using an instance at most this long after `/readyz` fails. A drain grace must be longer. */
export const noticesWithinMs: number = 2 * 200;

/** HAProxy in front of the services of one API, which listen on these ports. It checks `/readyz`. */
export function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const options = `mode http
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host petstore
  default-server inter 200ms fall 1 rise 1`;
  const servers = ports.map((port) => `${port} check`);
  return startHaproxy(options, servers, servers.length);
}

export interface BalancedPorts {
  readonly rest?: readonly number[];
  readonly graphql?: readonly number[];
}

/**
 * HAProxy with the configuration that is shipped, `haproxy.cfg` of tools/deploy and the file of the servers beside it, in front of
 * services that listen on these ports. `change` returns what is used in place of the shipped text. A warning about the
 * configuration is an error. Resolves when it answers: perhaps no service is ready yet.
 */
export function startShippedBalancer(
  shippedFile: URL,
  { rest = [], graphql = [] }: BalancedPorts,
  environment: Readonly<Record<string, string>> = {},
  change = (shipped: string): string => shipped,
): Promise<Program & { readonly origin: string; readonly port: number }> {
  return openTogether(async (use) => {
    const directory = use(await openTemporaryDirectory());
    const configFile = join(directory.path, "haproxy.cfg");
    const port = await choosePort(undefined);
    const servers = (name: string, ports: readonly number[]) =>
      ports.map((one) => `server ${name}${one} 127.0.0.1:${one}`).join("\n  ");
    const rules = await readFile(shippedFile, "utf8");
    const containers = await readFile(new URL("haproxy.containers.cfg", shippedFile), "utf8");
    const configuration = change(`${rules}\n${containers}`)
      .replaceAll(":8080", `127.0.0.1:${port}`)
      .replaceAll("server-template rest 1-10 rest:3000", servers("rest", rest))
      .replaceAll("server-template graphql 1-10 graphql:3000", servers("graphql", graphql));
    await writeFile(configFile, configuration);
    const args = ["-db", "-q", "-dW", "-f", configFile];
    const program = use(startProgram({ name: "HAProxy", command: "haproxy", args, environment }));
    const origin = `http://127.0.0.1:${port}`;
    await program.until(async () => (await fetch(origin).catch(() => undefined)) !== undefined);
    return { ...program, origin, port };
  });
}

/** HAProxy in front of PostgreSQL. It forwards to the node whose Patroni answers `/primary` with 200. */
export function startPrimaryBalancer(
  nodes: readonly { readonly port: number; readonly restPort: number }[],
): Promise<Balancer> {
  const options = `mode tcp
  option httpchk
  http-check send meth OPTIONS uri /primary
  http-check expect status 200
  # A node that is no longer the primary must not keep the sessions that it had.
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions`;
  const servers = nodes.map(({ port, restPort }) => `${port} check port ${restPort}`);
  return startHaproxy(options, servers, 1);
}

/** Resolves when it counts this number of servers as up. */
function startHaproxy(options: string, servers: readonly string[], up: number): Promise<Balancer> {
  return openTogether(async (use) => {
    const directory = use(await openTemporaryDirectory());
    const [configFile, statsSocket] = [join(directory.path, "haproxy.cfg"), join(directory.path, "stats")];
    const port = await choosePort(undefined);
    const address = `127.0.0.1:${port}`;
    const serverLines = servers.map((server, index) => `  server server${index} 127.0.0.1:${server}\n`);
    await writeFile(
      configFile,
      `global
  maxconn 4000
  stats socket ${statsSocket} mode 600 level operator
defaults
  # The clients must see every failure at once.
  retries 0
  timeout connect 1s
  timeout check 1s
  # Longer than any idle connection of a pool lasts.
  timeout client 24h
  timeout server 24h
listen all
  bind ${address}
  ${options}
${serverLines.join("")}`,
    );
    const program = use(startProgram({ name: "HAProxy", command: "haproxy", args: ["-db", "-q", "-f", configFile] }));
    const untilUp = (count: number) => program.until(async () => (await countUp(statsSocket)) === count);
    await untilUp(up);
    return { origin: `http://${address}`, port, untilUp };
  });
}

async function countUp(statsSocket: string): Promise<number> {
  const socket = connect(statsSocket);
  socket.on("error", () => {});
  socket.end("show stat\n");
  const table = await text(socket).catch(() => "");
  return table.split("\n").filter((line) => /^[^,]+,server\d+,/.test(line) && line.split(",")[17] === "UP").length;
}
