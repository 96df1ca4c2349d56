/**
 * Loaded into a process before its own code (`node --import`), to measure the process. It answers messages, and ends the
 * process when its parent process is gone.
 */
import { type Profiler, Session } from "node:inspector";

export type ProbeQuestion =
  /** The longest time in milliseconds for which the event loop was blocked since the question before. */
  | "block"
  | "usage"
  /** The functions that have run since the question before. The first question starts the recording. */
  | "coverage"
  /** Answered when it is done. Needs `--expose-gc`. */
  | "collect garbage";

export interface CalledFunction {
  /** The file of its module. */
  readonly url: string;
  /** Empty for a function without a name. */
  readonly name: string;
}

export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuMicroseconds: number;
  readonly rssBytes: number;
  /** The highest since the start. */
  readonly peakRssBytes: number;
  /** JavaScript objects, with garbage, and the buffers that they hold. */
  readonly heapBytes: number;
}

/** The interval of the measurements in milliseconds. */
const resolution = 1;

/** Work that follows a response, such as its log line, runs within this time. */
const settleMs = 20;

let longestMs = 0;
let isMeasuring = false;
let recording: Session | undefined;

process.on("message", async (question: ProbeQuestion) => {
  if (question === "block") answerBlock();
  if (question === "coverage") setTimeout(answerCoverage, settleMs);
  if (question === "usage") process.send?.(usage());
  if (question === "collect garbage") process.send?.(await collectGarbage());
});
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// Only the program decides how long its process lives.
process.channel?.unref();

function answerBlock(): void {
  // After the timers of this turn of the loop, which have then measured the latest block.
  setTimeout(() => {
    process.send?.(longestMs);
    longestMs = 0;
  }, 2 * resolution);
  if (!isMeasuring) startMeasuring();
}

/** Time without a processor does not count: a turn of the loop counts at most for the CPU time of the process in it. */
function startMeasuring(): void {
  isMeasuring = true;
  let before = readClocks();
  const measure = (): void => {
    const now = readClocks();
    const blockedMs = Math.min(now.wallMs - before.wallMs - resolution, now.processMs - before.processMs);
    longestMs = Math.max(longestMs, blockedMs);
    before = now;
  };
  setInterval(measure, resolution).unref();
}

/** The CPU time of all threads is never less than that of the loop. */
function readClocks() {
  return { wallMs: performance.now(), processMs: usedMicroseconds() / 1_000 };
}

function usedMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Finalizers that run after a collection free more objects. */
async function collectGarbage(): Promise<"done"> {
  for (let time = 0; time < 3; time++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return "done";
}

function usage(): Usage {
  const { rss, heapUsed, external } = process.memoryUsage();
  const peakRssBytes = process.resourceUsage().maxRSS * 1_024;
  return { cpuMicroseconds: usedMicroseconds(), rssBytes: rss, peakRssBytes, heapBytes: heapUsed + external };
}

function answerCoverage(): void {
  if (recording === undefined) startRecording();
  else recording.post("Profiler.takePreciseCoverage", (error, result) => answerCalls(error ? [] : result.result));
}

function startRecording(): void {
  recording = new Session();
  recording.connect();
  recording.post("Profiler.enable");
  // Counts calls, so a function that has already run is reported only when it runs again.
  recording.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false }, () => answerCalls([]));
}

function answerCalls(scripts: readonly Profiler.ScriptCoverage[]): void {
  const files = scripts.filter(({ url }) => url.startsWith("file:"));
  const called: CalledFunction[] = files.flatMap(({ url, functions }) =>
    functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map(({ functionName: name }) => ({ url, name })),
  );
  process.send?.(called);
}
