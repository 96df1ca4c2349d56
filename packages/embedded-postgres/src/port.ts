import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Everything listens here and nowhere else. */
export const loopback = "127.0.0.1";

/** Below 32768, where Linux begins to hand out ports to outgoing connections. */
const lowest = 20_000;
const highest = 32_767;

/** The preferred port if nobody listens there, else a random free one. Free now, not reserved: a start may still lose it. */
export async function choosePort(preferred: number | undefined): Promise<number> {
  if (preferred !== undefined && (await isPortFree(preferred))) return preferred;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(lowest, highest + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port between ${lowest} and ${highest} on ${loopback}`);
}

/** Whether nobody listens on this port of the loopback address at this moment. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: loopback, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
