import { choosePort, loopback } from "@petstore/embedded-postgres";
import { searchPath } from "../processes/installed-program.js";
import { disposeOnFailure, startProgram } from "../processes/program.js";
import { openTemporaryDirectory } from "../processes/standalone-store.js";

/** One etcd, in which the nodes of a Patroni cluster elect their primary. */
export interface EtcdServer extends AsyncDisposable {
  readonly url: string;
}

/** Rejects on a machine without `etcd`. */
export async function openEtcdServer(): Promise<EtcdServer> {
  const directory = await openTemporaryDirectory();
  const [url, peerUrl] = [await newUrl(), await newUrl()];
  const options = {
    name: "etcd",
    "data-dir": directory.path,
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `etcd=${peerUrl}`,
    // patroni-node.ts has the reason. etcd 3.6 no longer has this API.
    "enable-v2": "true",
  };
  const program = startProgram({
    name: "etcd",
    command: "etcd",
    args: Object.entries(options).map(([name, value]) => `--${name}=${value}`),
    environment: { PATH: searchPath() },
  });
  const server: EtcdServer = {
    url,
    async [Symbol.asyncDispose]() {
      await program.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
  await disposeOnFailure(server, program.printed(/ready to serve client requests/));
  return server;
}

async function newUrl(): Promise<string> {
  return `http://${loopback}:${await choosePort(undefined)}`;
}
