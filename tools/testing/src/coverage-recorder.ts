/**
 * Loaded into a service before its own code (`node --import`). It answers the message "coverage" with the files that have
 * executed code since the message before. The first message starts the recording.
 */
import { type Profiler, Session } from "node:inspector";

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
  const executed = scripts.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  process.send?.(executed.map(({ url }) => url).filter((url) => url.startsWith("file:")));
}
