/**
 * Loaded into a service before its own code (`node --import`). It answers the message "coverage" with the functions that
 * have run since the message before. The first message starts the recording.
 */
import { type Profiler, Session } from "node:inspector";

export interface CalledFunction {
  /** The file of its module. */
  readonly url: string;
  /** Empty for a function without a name. */
  readonly name: string;
}

/** Work that follows a response, such as its log line, runs within this time. */
const settleMs = 20;

let session: Session | undefined;

process.on("message", (message) => {
  if (message !== "coverage") return;
  setTimeout(() => {
    if (session === undefined) start();
    else session.post("Profiler.takePreciseCoverage", (error, result) => send(error === null ? result.result : []));
  }, settleMs);
});
// Only the service decides how long its process lives.
process.channel?.unref();

function start(): void {
  session = new Session();
  session.connect();
  session.post("Profiler.enable");
  // Counts calls, so a function that has already run is reported only when it runs again.
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false }, () => send([]));
}

function send(scripts: readonly Profiler.ScriptCoverage[]): void {
  const files = scripts.filter(({ url }) => url.startsWith("file:"));
  const called: CalledFunction[] = files.flatMap(({ url, functions }) =>
    functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map(({ functionName: name }) => ({ url, name })),
  );
  process.send?.(called);
}
