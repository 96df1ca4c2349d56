import { closeSync, openSync } from "node:fs";
import { choosePort } from "@petstore/embedded-postgres";
import { apis } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { unthrottled } from "../environment/services.js";

/** The log lines of these requests fill the service's buffer of 1 MiB. */
const fillingRequests = 8_000;
const furtherRequests = 4_000;

it("standard-output: serves requests and counts dropped lines with a full disk", async ({ environment, figures }) => {
  for (const api of apis) {
    const metricsPort = await choosePort(undefined);
    const stdout = openSync("/dev/full", "w");
    const service = await environment.startService({ ...unthrottled, METRICS_PORT: `${metricsPort}` }, { api, stdout });
    closeSync(stdout);
    // The cheapest requests that the service logs.
    const flood = { clients: 64, apiKey: "malformed" };
    await environment.sendBurst({ ...flood, requests: fillingRequests }, [service]);
    const droppedBefore = await droppedLines(metricsPort);
    await environment.sendBurst({ ...flood, requests: furtherRequests }, [service]);
    const dropped = (await droppedLines(metricsPort)) - droppedBefore;
    figures.atLeast(furtherRequests * 0.99, `${api.name}: lines dropped of the last ${furtherRequests}`, dropped);
    figures.exactly(0, `${api.name}: exit code after SIGTERM`, Number(await service.stop()));
  }
});

async function droppedLines(metricsPort: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  return Number(/^petstore_log_lines_dropped_total (\d+)$/m.exec(await response.text())?.[1]);
}
