/**
 * Loaded into a service before its own code (`node --import`): tells how long its event loop was blocked, and ends the
 * process when whoever started it is gone. A process that waits for a processor is not blocked by its own work, so of
 * the time between two turns of the loop no more counts than the process was running in it.
 */

/** Between two looks at the clock, in milliseconds. */
const resolution = 1;

let longestMs = 0;
let lookedAt: Clocks | undefined;

interface Clocks {
  readonly wallMs: number;
  /** Of all threads: more than the loop's own while the garbage collector or the compiler helps, never less. */
  readonly processMs: number;
}

process.on("message", (question) => {
  if (question !== "block") return;
  // Behind the timers of this turn of the loop: the block that has just ended has been seen then.
  setTimeout(() => {
    process.send?.(longestMs);
    longestMs = 0;
  }, 2 * resolution);
  if (lookedAt !== undefined) return;
  lookedAt = readClocks();
  setInterval(look, resolution).unref();
});
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
// The service alone decides how long the process lives.
process.channel?.unref();

function look(): void {
  const now = readClocks();
  const before = lookedAt ?? now;
  const blockedMs = Math.min(now.wallMs - before.wallMs - resolution, now.processMs - before.processMs);
  longestMs = Math.max(longestMs, blockedMs);
  lookedAt = now;
}

function readClocks(): Clocks {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), processMs: (user + system) / 1_000 };
}
