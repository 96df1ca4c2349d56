/**
 * Preloaded into a server that is measured (`node --import`), whatever server it is: answers the benchmark's questions
 * about the process, and ends it when the benchmark is gone.
 */
import { createProfiler } from "./profiler.js";

export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
}

export type ProbeQuestion =
  | { readonly kind: "usage" }
  | { readonly kind: "start-profile" }
  | { readonly kind: "write-profile"; readonly file: string };

const profiler = createProfiler();

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
    case "start-profile":
      await profiler.start();
      return {};
    case "write-profile":
      await profiler.write(question.file);
      return {};
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() };
}
