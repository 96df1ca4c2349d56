import { closeSync, openSync } from "node:fs";
import { choosePort } from "@petstore/embedded-postgres";
import { apis } from "../environment/apis.js";
import { it } from "../environment/it.js";
import { isFailure } from "../environment/results.js";
import { mebibytesOf, type Service, unthrottled } from "../environment/services.js";

const outputFaults = ["a full disk", "a pipe with a closed reader", "a pipe with a stopped reader"] as const;
/** The log lines of these requests fill the service's buffer of 1 MiB. */
const fillingRequests = 8_000;
const furtherRequests = 4_000;
const usualRequests = 500;
/** The memory of a process varies by this much between two garbage collections. */
const memoryNoiseMebibytes = 16;
/** A drain without requests, and the 200 ms that the log may take. */
const stopWithinMs = 1_500;

for (const outputFault of outputFaults) {
  it(`standard-output: serves requests and counts dropped lines with ${outputFault}`, async ({
    environment,
    figures,
  }) => {
    for (const api of apis) {
      const metricsPort = await choosePort(undefined);
      const fullDisk = outputFault === "a full disk" ? openSync("/dev/full", "w") : undefined;
      const instance = { api, ...(fullDisk !== undefined && { stdout: fullDisk }) };
      const settings = { ...unthrottled, METRICS_PORT: `${metricsPort}` };
      const [service] = await environment.startServices(settings, [instance]);
      if (fullDisk !== undefined) closeSync(fullDisk);
      if (service === undefined) throw new Error("there is no service");
      breakOutput(service, outputFault);
      // The cheapest requests that the service logs.
      const flood = { clients: 8, inFlight: 8, apiKey: "malformed" };
      await environment.sendBurst({ ...flood, requests: fillingRequests }, [service]);
      const before = { dropped: await droppedLines(metricsPort), mebibytes: await mebibytesOf(service, "VmRSS") };
      await environment.sendBurst({ ...flood, requests: furtherRequests }, [service]);
      const dropped = (await droppedLines(metricsPort)) - before.dropped;
      const grownMebibytes = (await mebibytesOf(service, "VmRSS")) - before.mebibytes;
      const usual = { clients: 8, pauseMs: 0, requests: usualRequests };
      const load = await environment.startLoad({ ...usual, targets: [service] });
      const startMs = performance.now();
      const exit = await service.stop();
      const stopMs = performance.now() - startMs;
      const { name } = api;
      figures.count(0, `${name}: failures in ${usualRequests} requests`, load.results, isFailure);
      figures.atLeast(furtherRequests * 0.99, `${name}: lines dropped of the last ${furtherRequests}`, dropped);
      figures.atMost(memoryNoiseMebibytes, `${name}: memory grown by them`, grownMebibytes, "MiB");
      figures.exactly(0, `${name}: exit code`, Number(exit));
      figures.atMost(stopWithinMs, `${name}: ended after SIGTERM`, stopMs, "ms");
    }
  });
}

function breakOutput({ stdout, hasEnded }: Service, fault: (typeof outputFaults)[number]): void {
  if (fault === "a pipe with a closed reader") stdout?.destroy();
  if (fault === "a pipe with a stopped reader") {
    stdout?.pause();
    // Unread bytes would keep the pipe open after the end of the process.
    const timer = setInterval(() => {
      if (!hasEnded()) return;
      stdout?.destroy();
      clearInterval(timer);
    }, 20);
  }
}

async function droppedLines(metricsPort: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  return Number(/^petstore_log_lines_dropped_total (\d+)$/m.exec(await response.text())?.[1]);
}
