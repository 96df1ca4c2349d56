const commands = ["start", "dev"];
const checkIntervalMs = 500;

/**
 * SIGTERM to npm alone, as an IDE or a process manager sends it, ends npm and its shell, and does not reach this process. If
 * the shell has gone, this process sends SIGTERM to itself.
 */
export function stopWithNpm() {
  if (!commands.includes(process.env.npm_lifecycle_event)) return;
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, checkIntervalMs);
  watch.unref();
}
