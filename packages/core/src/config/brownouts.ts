/** The schedule of brownouts: intervals of ISO 8601 in UTC, separated by commas. */
import { z } from "zod";
import { type Brownout, deprecatedAtMs, removedAtMs } from "../deprecation.js";
import { isUtcTime, listOf } from "./setting-values.js";

/** Two each month, from the deprecation until the removal. */
const mostBrownouts = 100;
/** A job that runs once a day is refused at most once in a brownout. */
const longestMs = 24 * 3_600_000;

const form =
  "must list intervals in UTC, such as 2027-03-01T12:00:00Z/PT30M or 2027-03-01T12:00:00Z/2027-03-01T12:30:00Z, separated by commas";

export const brownouts: z.ZodType<readonly Brownout[]> = z
  .string()
  .default("")
  .transform(listOf)
  .refine((texts) => texts.length <= mostBrownouts, `must list at most ${mostBrownouts} intervals`)
  .transform((texts, context) => {
    const schedule: Brownout[] = [];
    for (const text of texts) {
      const brownout = readInterval(text);
      const fault = brownout === undefined ? form : faultOf(brownout, schedule.at(-1));
      if (brownout === undefined || fault !== undefined) {
        context.addIssue(`${fault}: see interval ${schedule.length + 1}`);
        return z.NEVER;
      }
      schedule.push(brownout);
    }
    return schedule;
  });

/** `start/end` or `start/duration`. */
function readInterval(text: string): Brownout | undefined {
  const [start = "", end = "", ...others] = text.split("/");
  if (others.length > 0 || !isUtcTime(start)) return undefined;
  const startMs = Date.parse(start);
  const durationMs = readDurationMs(end);
  if (durationMs !== undefined) return { startMs, endMs: startMs + durationMs };
  return isUtcTime(end) ? { startMs, endMs: Date.parse(end) } : undefined;
}

/** Days, hours, minutes and seconds, such as `PT1H30M`. Years and months have no fixed length. */
function readDurationMs(text: string): number | undefined {
  const parts = /^P(?=[\dT])(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?$/.exec(text);
  if (parts === null) return undefined;
  const [, days = "0", hours = "0", minutes = "0", seconds = "0"] = parts;
  const wholeMinutes = (Number(days) * 24 + Number(hours)) * 60 + Number(minutes);
  return (wholeMinutes * 60 + Number(seconds)) * 1_000;
}

/**
 * All times are whole seconds, and Retry-After is rounded up to a second. A client that waits for it therefore returns before
 * the next brownout and before the removal, even after the shortest pause.
 */
function faultOf({ startMs, endMs }: Brownout, previous: Brownout | undefined): string | undefined {
  if (endMs <= startMs) return "must have the start of each interval before its end";
  if (endMs - startMs > longestMs) return "must have intervals of at most 24 hours";
  if (startMs < deprecatedAtMs) return `must not begin before the announced deprecation, ${utc(deprecatedAtMs)}`;
  if (endMs >= removedAtMs) return `must end before the removal, ${utc(removedAtMs)}`;
  if (previous === undefined || startMs > previous.endMs) return undefined;
  return "must list the intervals in order, with a pause between them";
}

function utc(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
