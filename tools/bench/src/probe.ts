/**
 * Preloaded into a server that is measured (`node --import`), whatever server it is: answers the benchmark's questions
 * about the process, and ends it when the benchmark is gone.
 */
import { writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";

export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
}

export type ProbeQuestion =
  | { readonly kind: "usage" }
  | { readonly kind: "start-profile" }
  /** For the developer tools of Chrome, or any other reader of .cpuprofile. */
  | { readonly kind: "write-profile"; readonly file: string };

const profiler = new Session();

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
      profiler.connect();
      await profiler.post("Profiler.enable");
      await profiler.post("Profiler.start");
      return {};
    case "write-profile": {
      const { profile } = await profiler.post("Profiler.stop");
      profiler.disconnect();
      await writeFile(question.file, JSON.stringify(profile));
      return {};
    }
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss() };
}
