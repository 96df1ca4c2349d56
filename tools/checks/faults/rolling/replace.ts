import { noticesWithinMs, startBalancer } from "@petstore/harness/network";
import { type Api, apis } from "../environment/apis.js";
import type { Environment } from "../environment/environment.js";
import type { Target } from "../environment/load.js";
import { millisecondsUntil } from "../environment/measures.js";
import type { Service } from "../environment/services.js";

/** Long enough for the balancer to notice that a service stops. */
export const graceMs: number = 2 * noticesWithinMs;

export interface BalancedApi extends Target {
  untilUp(count: number): Promise<void>;
}

/** A balancer for each API, in front of its services. */
export function startBalancers(
  environment: Environment,
  services: readonly Service[],
): Promise<readonly BalancedApi[]> {
  return Promise.all(
    apis.map(async (api) => {
      const ports = services.filter((service) => service.api.name === api.name).map(({ port }) => port);
      return { api, ...environment.use(await startBalancer(ports)) };
    }),
  );
}

/** Replaces one service after the other. Its successor has the same port, and is the program that `successors` has for its API. */
export async function replaceEach(
  environment: Environment,
  services: readonly Service[],
  { balancers, successors }: { readonly balancers: readonly BalancedApi[]; readonly successors: readonly Api[] },
): Promise<{ readonly services: readonly Service[]; readonly slowestStopMs: number }> {
  const replaced: Service[] = [];
  let slowestStopMs = 0;
  for (const service of services) {
    const startMs = performance.now();
    await service.stop();
    slowestStopMs = Math.max(slowestStopMs, performance.now() - startMs);
    const own = successors.filter(({ name }) => name === service.api.name);
    const started = await environment.startMore(own.map((api) => ({ api, port: service.port })));
    await millisecondsUntil(started, "ready");
    for (const { untilUp } of balancers) await untilUp(services.length / balancers.length);
    replaced.push(...started);
  }
  return { services: replaced, slowestStopMs };
}
