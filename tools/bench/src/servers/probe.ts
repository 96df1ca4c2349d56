/**
 * Preloaded into every measured process (`node --import`). Answers questions about the process, and ends it when the
 * benchmark has gone.
 */
export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
  /** The highest since the start. */
  readonly peakRssBytes: number;
}

export interface Retained {
  readonly rssBytes: number;
  /** JavaScript objects, and the buffers that they hold. */
  readonly liveBytes: number;
}

export type ProbeQuestion =
  | { readonly kind: "usage" }
  /** Usage after a full garbage collection. */
  | { readonly kind: "retained" };

process.on("message", (question: ProbeQuestion) => {
  answer(question).then(
    // The program itself answers all other questions.
    (result) => result && process.send?.(result),
    (error: unknown) => process.send?.({ error: `${error}` }),
  );
});
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The program alone decides how long the process lives.
process.channel?.unref();

async function answer(question: ProbeQuestion): Promise<object | undefined> {
  switch (question.kind) {
    case "usage":
      return usage();
    case "retained":
      return retained();
    default:
      return undefined;
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const peakRssBytes = process.resourceUsage().maxRSS * 1_024;
  return { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss(), peakRssBytes };
}

async function retained(): Promise<Retained> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([import("node:v8"), import("node:vm")]);
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  // Finalizers that run after a collection free more objects.
  for (let time = 0; time < 3; time++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, liveBytes: heapUsed + external };
}
