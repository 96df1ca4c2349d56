/**
 * Loaded into a service before its own code (`node --import`). It answers the message "block" with the time for which the
 * event loop was blocked, and ends the process when its parent process is gone. Time without a processor does not count:
 * a turn of the loop counts at most for the CPU time that the process used in it.
 */

/** The interval of the measurements in milliseconds. */
const resolution = 1;

let longestMs = 0;
let lastClocks: Clocks | undefined;

interface Clocks {
  readonly wallMs: number;
  /** The CPU time of all threads, which is never less than that of the loop. */
  readonly processMs: number;
}

process.on("message", (question) => {
  if (question !== "block") return;
  // After the timers of this turn of the loop, which have then measured the latest block.
  setTimeout(() => {
    process.send?.(longestMs);
    longestMs = 0;
  }, 2 * resolution);
  if (lastClocks !== undefined) return;
  lastClocks = readClocks();
  setInterval(measure, resolution).unref();
});
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// Only the service decides how long its process lives.
process.channel?.unref();

function measure(): void {
  const now = readClocks();
  const before = lastClocks ?? now;
  const blockedMs = Math.min(now.wallMs - before.wallMs - resolution, now.processMs - before.processMs);
  longestMs = Math.max(longestMs, blockedMs);
  lastClocks = now;
}

function readClocks(): Clocks {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), processMs: (user + system) / 1_000 };
}
