import { scrapeMetrics } from "@petstore/harness/network";
import type { Service } from "./services.js";

/** The value of every metric of a service by its name and labels. The service needs METRICS_PORT. */
export async function readMetrics({ output }: Pick<Service, "output">): Promise<ReadonlyMap<string, number>> {
  const listening = output.find((line) => line.includes('"metricsUrl"')) ?? "";
  const { metricsUrl } = JSON.parse(listening) as { readonly metricsUrl: string };
  return scrapeMetrics(metricsUrl);
}
