import { randomInt } from "node:crypto";
import { isPortFree, loopback } from "@petstore/embedded-postgres";

/** A node of a Redis Cluster listens here too, above its own port; 6.2 has no setting for it. */
const clusterBusOffset = 10_000;
const lowest = 10_000;
/** The bus stays below 32768, where Linux begins to hand out ports to outgoing connections. */
const highest = 32_767 - clusterBusOffset;

/** A free port whose cluster bus port is free too. Free now, not reserved: a start may still lose it. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(lowest, highest + 1);
    if ((await isPortFree(port)) && (await isPortFree(port + clusterBusOffset))) return port;
  }
  throw new Error(`No free port between ${lowest} and ${highest} on ${loopback}`);
}
