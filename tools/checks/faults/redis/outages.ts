import { setTimeout as sleep } from "node:timers/promises";
import type { Figures } from "../../src/it.js";
import { count } from "../environment/results.js";
import type { Instance, Service } from "../environment/services.js";

/** The usual load uses this up within seconds, so the demand is above the limit in every window with a fault. */
export const limits = { perMinute: 3_000, perDay: 10_000_000 };
export const degradedWithinMs = 500;
export const recoversWithinMs = 2_000;
export const twoRest: readonly Instance[] = [{}, {}];

/** The services log when Redis becomes unavailable and when it recovers, at most 1.2 s later. */
export async function checkTransitions(
  figures: Figures,
  services: readonly Service[],
  { outages, recoveries }: { readonly outages: number; readonly recoveries: number },
): Promise<void> {
  await sleep(1_200);
  const lines = services.flatMap(({ output }) => output);
  const unavailable = count(lines, (line) => line.includes('"Redis is unavailable'));
  const recovered = count(lines, (line) => line.includes('"Redis recovered'));
  figures.exactly(outages * services.length, "log lines that Redis is unavailable", unavailable);
  figures.exactly(recoveries * services.length, "log lines that Redis recovered", recovered);
}
