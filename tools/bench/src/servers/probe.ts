/**
 * Preloaded into every measured process (`node --expose-gc --import`). Answers questions about the process, and ends it
 * when the benchmark has gone.
 */
export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
  /** The highest since the start. */
  readonly peakRssBytes: number;
  /** JavaScript objects, with garbage, and the buffers that they hold. */
  readonly heapBytes: number;
}

export type ProbeQuestion = "usage" | "usage after garbage collection";

process.on("message", async (question: ProbeQuestion) => {
  if (question === "usage after garbage collection") await collectGarbage();
  process.send?.(usage());
});
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The program alone decides how long the process lives.
process.channel?.unref();

/** Finalizers that run after a collection free more objects. */
async function collectGarbage(): Promise<void> {
  for (let time = 0; time < 3; time++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const peakRssBytes = process.resourceUsage().maxRSS * 1_024;
  return { cpuMicroseconds: user + system, rssBytes: rss, peakRssBytes, heapBytes: heapUsed + external };
}
