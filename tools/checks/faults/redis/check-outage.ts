import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "@petstore/core";
import { nowMs } from "@petstore/harness/network";
import type { Figures } from "@petstore/harness/test-with-figures";
import { startWithinMinute } from "../../conformance/running-store.js";
import type { Environment } from "../environment/environment.js";
import { checkLatency, checkTransitions } from "../environment/measures.js";
import { millisecondsUntil } from "../environment/waits.js";

export interface Outage {
  begin(): unknown;
  /** Resolves when Redis can be used again. */
  end(): unknown;
  /** Runs under load after the outage. */
  after?(): Promise<unknown>;
}

/** The load uses this up within seconds, so the demand is above the limit in every window with a fault. */
const limits: Limits = { perMinute: 3_000, perDay: 10_000_000 };
const degradedWithinMs = 500;
const recoversWithinMs = 2_000;

/** Makes an outage of Redis under load. The instances decide alone, without a delay, until it is over. */
export async function checkOutage(environment: Environment, figures: Figures, outage: Outage): Promise<void> {
  const { services, markFault } = environment;
  await startWithinMinute(20_000);
  const load = await environment.startLoad({ limits });
  await sleep(2_500);
  const beganAtMs = markFault();
  await outage.begin();
  figures.atMost(degradedWithinMs, "degraded after", await millisecondsUntil(services, "degraded"), "ms");
  await outage.end();
  const endedAtMs = nowMs();
  markFault();
  figures.atMost(recoversWithinMs, "shared again after", await millisecondsUntil(services, "ready"), "ms");
  markFault();
  await outage.after?.();
  await sleep(2_000);
  await load.stop();
  checkLatency(figures, load, beganAtMs, endedAtMs);
  await checkTransitions(figures, services);
}
