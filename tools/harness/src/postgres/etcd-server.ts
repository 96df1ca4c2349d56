import { choosePort, loopback } from "@petstore/embedded-postgres";
import { startProgram } from "../processes/program.js";
import { openTemporaryDirectory, openTogether } from "../processes/resources.js";

/** One etcd, in which the nodes of a Patroni cluster elect their primary. */
export interface EtcdServer extends AsyncDisposable {
  readonly url: string;
}

/** Rejects on a machine without `etcd`. */
export function openEtcdServer(): Promise<EtcdServer> {
  return openTogether(async (use) => {
    const directory = use(await openTemporaryDirectory());
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
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    await use(startProgram({ name: "etcd", command: "etcd", args })).printed(/ready to serve client requests/);
    return { url };
  });
}

async function newUrl(): Promise<string> {
  return `http://${loopback}:${await choosePort(undefined)}`;
}
