/**
 * Preloaded into a server that is measured (`node --import`), whatever server it is: answers the benchmark's questions
 * about the process, and ends it when the benchmark is gone.
 */
import type { Profiler } from "./profiler.js";

export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
}

export interface Retained {
  readonly rssBytes: number;
  /** JavaScript objects and the buffers that they hold. */
  readonly liveBytes: number;
}

export type ProbeQuestion =
  | { readonly kind: "usage" }
  /** After everything that can be collected has been. */
  | { readonly kind: "retained" }
  | { readonly kind: "start-profile" }
  | { readonly kind: "write-profile"; readonly file: string };

let profiler: Profiler | undefined;

process.on("message", (question: ProbeQuestion) => {
  answer(question).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: `${error}` }),
  );
});
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The server alone decides how long the process lives.
process.channel?.unref();

async function answer(question: ProbeQuestion): Promise<object> {
  switch (question.kind) {
    case "usage":
      return usage();
    case "retained":
      return retained();
    case "start-profile":
      // Loaded only when it is asked for, as the inspector would add to the memory that is measured.
      profiler = (await import("./profiler.js")).createProfiler();
      await profiler.start();
      return {};
    case "write-profile":
      if (profiler === undefined) throw new Error("No profile was started.");
      await profiler.write(question.file);
      return {};
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() };
}

async function retained(): Promise<Retained> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([import("node:v8"), import("node:vm")]);
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  // What the first finds dead may be freed by finalizers after it, and holds other things until then.
  for (let time = 0; time < 3; time++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, liveBytes: heapUsed + external };
}
