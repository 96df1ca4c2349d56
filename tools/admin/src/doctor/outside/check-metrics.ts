// Whether clients can read the metrics, which are for operators.
import { isLoopback } from "@petstore/core";
import { type Finding, fault, ok } from "../finding.js";
import { exchange } from "./exchange.js";
import type { StoreClient } from "./store-client.js";

/** METRICS_PORT of the images. */
const imagePort = 9464;
/** A firewall may drop the packets. */
const closedMs = 2_000;

export async function checkMetrics({ target, now }: StoreClient): Promise<Finding> {
  const check = "metrics";
  const shown: string[] = [];
  for (const address of metricsAddresses([target.rest, target.graphql])) {
    if (await showsMetrics(address, now)) shown.push(address.href);
  }
  if (shown.length === 0) return ok(check, "not public");
  const advice = "Let the balancer send no client to METRICS_PORT, and the firewall close it to all but Prometheus.";
  return fault(check, `everybody can read ${shown.join(" and ")}`, advice, "logs-and-traces");
}

/** The path on the public ports, and the port of operators on hosts other than this machine. */
export function metricsAddresses(apis: readonly URL[]): readonly URL[] {
  const addresses = apis.flatMap((api) => [
    new URL("/metrics", api).href,
    ...(isLoopback(api.hostname) ? [] : [`http://${api.hostname}:${imagePort}/metrics`]),
  ]);
  return [...new Set(addresses)].map((address) => new URL(address));
}

async function showsMetrics(url: URL, now: () => number): Promise<boolean> {
  try {
    const { status, body } = await exchange({ url, timeoutMs: closedMs, now });
    return status === 200 && /^# (HELP|TYPE) /m.test(body);
  } catch {
    // Nobody answers there.
    return false;
  }
}
