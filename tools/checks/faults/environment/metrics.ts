import type { Service } from "./services.js";

/** The value of every metric of a service by its name and labels. The service needs METRICS_PORT. */
export async function readMetrics({ output }: Pick<Service, "output">): Promise<ReadonlyMap<string, number>> {
  const listening = output.find((line) => line.includes('"metricsUrl"')) ?? "";
  const { metricsUrl } = JSON.parse(listening) as { readonly metricsUrl: string };
  const lines = (await (await fetch(metricsUrl)).text()).split("\n");
  const samples = lines.filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}
