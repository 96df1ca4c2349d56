/** Moments and durations in words. Browsers and this module's tests share it. */

/** `14:05:00 UTC (06:05:00 PST)`. The date is there only if it is another one than that of `nowMs` in the same time zone. */
export function momentText(ms: number, nowMs: number, localZone?: string): string {
  const [utc, local] = [timeText(ms, nowMs, "UTC"), timeText(ms, nowMs, localZone)];
  return utc === local ? utc : `${utc} (${local})`;
}

/** `December 5, 2030, 14:05:00 UTC (06:05:00 PST)`. The local date is there only if it is another one. */
export function dateText(ms: number, localZone?: string): string {
  const [utcDate, localDate] = [longDate(ms, "UTC"), longDate(ms, localZone)];
  const [utc, local] = [clockTime(ms, "UTC"), clockTime(ms, localZone)];
  if (utc === local) return `${utcDate}, ${utc}`;
  return `${utcDate}, ${utc} (${localDate === utcDate ? local : `${localDate}, ${local}`})`;
}

/**
 * `in 43 seconds`, `in 12 minutes`, `in 9 h 17 min` or `in 12 days 5 h`, rounded up; `now` if nothing is left. A line does not
 * break between a number and its unit.
 */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds <= 0) return "now";
  if (seconds < 120) return `in ${seconds}\u00a0${seconds === 1 ? "second" : "seconds"}`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `in ${minutes}\u00a0minutes`;
  if (minutes < 48 * 60) return `in ${Math.floor(minutes / 60)}\u00a0h ${minutes % 60}\u00a0min`;
  const hours = Math.ceil(minutes / 60);
  return `in ${Math.floor(hours / 24)}\u00a0days ${hours % 24}\u00a0h`;
}

/** Without `timeZone`, in the time zone of the browser. */
function timeText(ms: number, nowMs: number, timeZone: string | undefined): string {
  const time = clockTime(ms, timeZone);
  const date = new Intl.DateTimeFormat("en", { ...zoneOption(timeZone), day: "numeric", month: "long" });
  return date.format(ms) === date.format(nowMs) ? time : `${time} on ${date.format(ms)}`;
}

function clockTime(ms: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat("en", { ...zoneOption(timeZone), ...timeFields }).format(ms);
}

function longDate(ms: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat("en", { ...zoneOption(timeZone), dateStyle: "long" }).format(ms);
}

function zoneOption(timeZone: string | undefined): { readonly timeZone?: string } {
  return timeZone === undefined ? {} : { timeZone };
}

const timeFields = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
} as const;
