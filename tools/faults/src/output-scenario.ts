import { choosePort } from "@petstore/embedded-postgres";
import { apis } from "./api.js";
import { unthrottled } from "./environment.js";
import { isFailure } from "./exchange.js";
import { atLeast, atMost, count, exactly } from "./measure.js";
import type { OutputFault } from "./program.js";
import { residentMebibytes } from "./resident-memory.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import { roomy, type Stage } from "./stage.js";

const faults: readonly OutputFault[] = ["full", "closed", "not read"];
/** Their lines fill the service's buffer of 1 MiB. */
const fillingRequests = 8_000;
const furtherRequests = 4_000;
const usualRequests = 500;
/** The memory of a process varies by this much between two garbage collections. */
const memoryNoiseMebibytes = 16;
/** A drain without requests, and the 200 ms that the log may take. */
const stopWithinMs = 1_500;

export const outputScenario: Scenario = {
  group: "http",
  name: "standard-output",
  cause: "standard output is a full disk, a pipe whose reader has ended, a pipe whose reader has stopped",
  expected: "requests answered as before; memory flat; dropped lines counted; SIGTERM ends the process in time",
  async run(stage) {
    const checks: Check[] = [];
    for (const outputFault of faults) {
      for (const api of apis) {
        const port = `${await choosePort(undefined)}`;
        const [service] = await stage.startCold([{ api, outputFault }], { ...unthrottled, METRICS_PORT: port });
        if (service === undefined) throw new Error("there is no service");
        const what = `${api.name}, ${outputFault}`;
        checks.push(...(await check(stage, service, `http://127.0.0.1:${port}/metrics`, what)));
      }
    }
    return checks;
  },
};

async function check(stage: Stage, service: Service, metricsUrl: string, what: string): Promise<Check[]> {
  await flood(stage, service, fillingRequests);
  const [droppedBefore, mebibytesBefore] = [await droppedLines(metricsUrl), await residentMebibytes(service)];
  await flood(stage, service, furtherRequests);
  const [dropped, mebibytes] = [await droppedLines(metricsUrl), await residentMebibytes(service)];
  const load = await stage.load({ limits: roomy, on: [service], callers: 8, pauseMs: 0, requests: usualRequests });
  await load.done;
  const { exitCode, withinMs } = await service.stop();
  return [
    exactly(0, `${what}: failures in ${usualRequests} requests`, count(load.exchanges, isFailure)),
    atLeast(furtherRequests * 0.99, `${what}: lines dropped of the last ${furtherRequests}`, dropped - droppedBefore),
    atMost(memoryNoiseMebibytes, `${what}: memory grown by them`, mebibytes - mebibytesBefore, "MiB"),
    exactly(0, `${what}: exit code`, exitCode ?? Number.NaN),
    atMost(stopWithinMs, `${what}: ended after SIGTERM`, withinMs, "ms"),
  ];
}

/** The cheapest requests that are logged. */
async function flood(stage: Stage, service: Service, requests: number): Promise<void> {
  const options = { requests, callers: 8, ahead: 8, apiKey: () => "malformed" };
  await stage.burst({ ...options, call: ({ list }) => list }, [service]);
}

async function droppedLines(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^petstore_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
}
