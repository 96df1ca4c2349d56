/** The value of every metric by its name and labels, read from the metrics port of a service. */
export async function scrapeMetrics(url: string): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await fetch(url)).text()).split("\n");
  const samples = lines.filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}
