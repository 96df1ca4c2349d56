// The values of arguments and options.
import { maxInt64 } from "@petstore/core";
import { InvalidArgumentError } from "commander";
import { isShowable, Refusal } from "./command-context.js";

/** The name of an account or a key. */
export function checkName(name: string): void {
  if (name.trim() === "" || !isShowable(name)) {
    throw new Refusal("A name has 1 to 255 characters, not all blank, no control characters, and is no API key.");
  }
}

export function keyId(text: string): bigint {
  const id = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  if (id < 1n || id > maxInt64) throw new Refusal("The id of a key is a whole number; petstore key list shows it.");
  return id;
}

/** PostgreSQL's integer is the bound. */
export function wholeNumber(text: string): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > 2_147_483_647)
    throw new InvalidArgumentError("It must be a whole number from 1 to 2147483647.");
  return value;
}

/** A time in the future in ISO 8601, as an argument of a command line. */
export function futureTime(now: () => number): (text: string) => Date {
  return (text) => {
    const [date] = /^\d{4}-\d\d-\d\d(?=$|T[\d:.]+(Z|[+-]\d\d:\d\d)$)/.exec(text) ?? [];
    const time = new Date(text);
    // JavaScript takes 30 February for 2 March.
    const isDay = date !== undefined && !Number.isNaN(time.getTime()) && new Date(date).toISOString().startsWith(date);
    if (!isDay || time.getTime() <= now())
      throw new InvalidArgumentError("It must be in the future: a date, or a time with Z or an offset, in ISO 8601.");
    return time;
  };
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const longestMs = 3_650 * 86_400_000;

/** Milliseconds of a duration such as `90s`, `30m`, `24h` or `7d`; `0` is one too. */
export function duration(text: string): number {
  const [, digits = "", unit = "s"] = /^(\d{1,9})([smhd])$/.exec(text) ?? /^(0)$/.exec(text) ?? [];
  const milliseconds = Number(digits) * (unitMs[unit] ?? 0);
  if (digits === "" || milliseconds > longestMs) {
    throw new InvalidArgumentError("It must be a duration such as 90s, 30m, 24h or 7d, at most 3650d.");
  }
  return milliseconds;
}
