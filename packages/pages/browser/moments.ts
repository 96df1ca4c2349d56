/** Moments and durations in words. Browsers and this module's tests share it. */

/** `14:05:00 UTC (06:05:00 PST)`. The date is there only if it is another one than that of `nowMs` in the same time zone. */
export function momentText(ms: number, nowMs: number, localZone?: string): string {
  const [utc, local] = [timeText(ms, nowMs, "UTC"), timeText(ms, nowMs, localZone)];
  return utc === local ? utc : `${utc} (${local})`;
}

/** `in 43 seconds`, `in 12 minutes` or `in 9 h 17 min`, rounded up; `now` if nothing is left. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds <= 0) return "now";
  if (seconds < 120) return `in ${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `in ${minutes} minutes`;
  return `in ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Without `timeZone`, in the time zone of the browser. */
function timeText(ms: number, nowMs: number, timeZone: string | undefined): string {
  const zone = timeZone === undefined ? {} : { timeZone };
  const time = new Intl.DateTimeFormat("en", { ...zone, ...timeFields }).format(ms);
  const date = new Intl.DateTimeFormat("en", { ...zone, day: "numeric", month: "long" });
  return date.format(ms) === date.format(nowMs) ? time : `${time} on ${date.format(ms)}`;
}

const timeFields = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
} as const;
