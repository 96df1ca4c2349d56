// One machine of a Patroni cluster: Patroni and its PostgreSQL.
import { readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { choosePort, loopback } from "@petstore/embedded-postgres";
import { openFaultProxy } from "../network/fault-proxy.js";
import { type Program, startProgram } from "../processes/program.js";
import { openTogether } from "../processes/resources.js";
import { openServerDirectory, postgresFolder, serverUser } from "./installed-postgres.js";
import { query, signalProcess } from "./postgres-server.js";

export interface PatroniNode extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** Patroni answers `/primary` here with 200 only on the primary. */
  readonly restPort: number;
  /** This node itself, for the superuser. */
  readonly url: string;
  readonly configFile: string;
  start(): void;
  /** SIGKILL to every process of the machine. Connections are reset. */
  kill(): Promise<void>;
  /** SIGSTOP to every process of the machine. Connections stay open and are silent. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Its packets to etcd get lost. Its clients and its standbys still reach it. */
  isolate(): Promise<void>;
  reconnect(): Promise<void>;
  /** By PostgreSQL itself. False if it takes no connections. */
  isPrimary(): Promise<boolean>;
}

export const clusterName = "petstore";

/** The node does not run yet. Disposing ends it in any state. */
export function openPatroniNode(name: string, etcd: { readonly url: string }): Promise<PatroniNode> {
  return openTogether(async (use) => {
    const { path } = use(await openServerDirectory());
    const link = use(await openFaultProxy(etcd));
    const configFile = join(path, "patroni.json");
    const [port, restPort] = [await choosePort(undefined), await choosePort(undefined)];
    const configuration = {
      scope: clusterName,
      name,
      restapi: addressOf(restPort),
      // The older API of etcd: with `etcd3`, Patroni before 3.0.3 writes its leader key over that of the new primary when the
      // old one resumes (patroni#2689). Debian 12 has Patroni 3.0.2 and etcd 3.4. Later ones need `etcd3`.
      // Without `use_proxies` it would ask for the addresses of etcd, and no longer use this one.
      etcd: { host: new URL(link.url).host, use_proxies: true },
      bootstrap,
      postgresql: {
        ...addressOf(port),
        data_dir: join(path, "data"),
        bin_dir: postgresFolder,
        pgpass: join(path, "pgpass"),
        authentication: {
          superuser: { username: "postgres", password: "superuser" },
          replication: { username: "replicator", password: "replicator" },
        },
        parameters: { unix_socket_directories: "" },
        pg_hba: [
          `host all all ${loopback}/32 scram-sha-256`,
          `host replication replicator ${loopback}/32 scram-sha-256`,
        ],
      },
    };
    // Patroni reads YAML, and JSON is YAML.
    await writeFile(configFile, JSON.stringify(configuration));
    const url = `postgresql://postgres:superuser@${loopback}:${port}/postgres`;
    let patroni: Program | undefined;

    async function signalAll(signal: NodeJS.Signals): Promise<void> {
      for (const pid of await processesIn(path)) signalProcess(pid, signal);
    }

    async function kill(): Promise<void> {
      // All are stopped first, so that none can react to the end of another.
      await signalAll("SIGSTOP");
      while ((await processesIn(path)).length > 0) await signalAll("SIGKILL");
      await patroni?.ended;
    }

    use({ [Symbol.asyncDispose]: kill });
    return {
      name,
      port,
      restPort,
      url,
      configFile,
      start() {
        patroni = startProgram({
          name: `Patroni ${name}`,
          command: "patroni",
          args: [configFile],
          environment: { HOME: path, LC_ALL: "C.UTF-8" },
          directory: path,
          user: serverUser,
        });
      },
      kill,
      pause: () => signalAll("SIGSTOP"),
      resume: () => signalAll("SIGCONT"),
      isolate: link.blackHole,
      reconnect: link.restore,
      async isPrimary() {
        const [row] = await query(url, "select pg_is_in_recovery() as value").catch(() => []);
        return row?.value === false;
      },
    };
  });
}

const bootstrap = {
  dcs: {
    // Short, so that a failover takes seconds. Patroni asks for loop_wait + 2 * retry_timeout <= ttl.
    ...{ ttl: 8, loop_wait: 1, retry_timeout: 3 },
    // The primary acknowledges a commit when one standby has it on disk too, and only that standby can be promoted.
    synchronous_mode: true,
    postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, shared_buffers: "64MB" } },
  },
  // pg_rewind needs the checksums.
  initdb: ["data-checksums", { encoding: "UTF8" }, { locale: "C" }],
};

/** Patroni and PostgreSQL work in the directory of their node. A process that has ended has no such link. */
async function processesIn(path: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
  return pids.filter((_, index) => `${folders[index]}/`.startsWith(`${path}/`)).map(Number);
}

function addressOf(port: number) {
  return { listen: `${loopback}:${port}`, connect_address: `${loopback}:${port}` };
}
