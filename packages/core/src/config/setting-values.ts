import { isIP } from "node:net";
import { Client } from "pg";
import { z } from "zod";
import { readSentinelUrl } from "../quota/engines/sentinel-url.js";

export function whole(minimum: number, maximum: number): z.ZodType<number> {
  const isInRange = (text: string) => /^\d{1,12}$/.test(text) && Number(text) >= minimum && Number(text) <= maximum;
  return z.string().refine(isInRange, `must be a whole number from ${minimum} to ${maximum}`).transform(Number);
}

export const flag: z.ZodType<boolean> = z
  .enum(["true", "false"], { error: "must be true or false" })
  .transform((text) => text === "true");

export const databaseUrl: z.ZodType<string> = z
  .string({ error: "is required: postgres://user:password@host:port/database" })
  // With a space before the URL, pg connects to a host called `base`.
  .trim()
  .refine(hasProtocol(/^postgres(ql)?:$/), "must be a URL that begins with postgres://")
  .refine(isReadByPg, "must percent-encode the user, the password and the name of the database");

/** Commas separate the URLs of a cluster. In a URL of sentinels they separate the sentinels. */
export const redisUrls: z.ZodType<string[]> = z
  .string()
  .transform((text) => (readSentinelUrl(text.trim()) === undefined ? listOf(text) : [text.trim()]))
  .refine(
    (urls) =>
      (urls.length === 1 && readSentinelUrl(urls[0] ?? "") !== undefined) ||
      (urls.length > 0 && urls.every(isRedisUrl)),
    "must be redis://user:password@host:6379, several of them for a cluster, separated by commas, or " +
      "redis+sentinel://user:password@host:26379,host:26379/name, with a percent-encoded user and password",
  );

export const origin: z.ZodType<string> = z
  .string()
  .refine(isOrigin, "must be a URL of scheme, host and port alone, such as https://api.example.com")
  .transform((text) => new URL(text).origin);

export const httpUrl: z.ZodType<string> = z
  .string()
  .refine(hasProtocol(/^https?:$/), "must be a URL that begins with http:// or https://");

export const contact: z.ZodType<string> = z
  .string()
  .refine(hasProtocol(/^(https|mailto|tel):$/), "must be a URI that begins with https://, mailto: or tel:")
  // Without line breaks, which would begin a new field of security.txt.
  .transform((text) => new URL(text).href);

/** `name=value` pairs as OpenTelemetry defines them: separated by commas, with percent-encoded values. */
export const headers: z.ZodType<Record<string, string>> = z
  .string()
  .transform(listOf)
  .refine((pairs) => pairs.every(isPair), "must be name=value pairs, separated by commas, with percent-encoded values")
  .transform((pairs) => Object.fromEntries(pairs.map(readPair)));

/** As epoch milliseconds. */
export const utcTime: z.ZodType<number> = z
  .string()
  .refine(isUtcTime, "must be a time in UTC, such as 2030-12-05T00:00:00Z")
  .transform((text) => Date.parse(text));

export const share: z.ZodType<number> = z
  .string()
  .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, "must be a number from 0 to 1, such as 0.05")
  .transform(Number);

export const addressRanges: z.ZodType<string[]> = z
  .string()
  .default("")
  .transform(listOf)
  .refine((ranges) => ranges.every(isAddressRange), "must list addresses or CIDR ranges, separated by commas");

/** ISO 8601 in whole seconds or minutes. `Date.parse` alone would also read 30 February. */
export function isUtcTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.000)?)?Z$/.test(text)) return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, -1));
}

export function listOf(text: string): string[] {
  return text
    .trim()
    .split(/\s*,\s*/)
    .filter(Boolean);
}

function isRedisUrl(text: string): boolean {
  if (!hasProtocol(/^rediss?:$/)(text)) return false;
  const { username, password } = new URL(text);
  return succeeds(() => decodeURIComponent(`${username} ${password}`));
}

/** Omits the query, because `Client` would read the certificate files that it names. Each connection reads them again. */
function isReadByPg(url: string): boolean {
  return succeeds(() => new Client(url.split("?", 1)[0]));
}

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    // The setting's message says what is wrong.
    return false;
  }
}

function isPair(text: string): boolean {
  return /^[\w!#$&'*+.^`|~-]+ *= *([\w!#$&'()*+./:<=>?@[\]^`{|}~ -]|%[2-7][\da-f])+$/i.test(text);
}

function readPair(pair: string): [name: string, value: string] {
  const separator = pair.indexOf("=");
  return [pair.slice(0, separator).trim(), decodeURIComponent(pair.slice(separator + 1).trim())];
}

function hasProtocol(protocol: RegExp): (text: string) => boolean {
  return (text) => URL.canParse(text) && protocol.test(new URL(text).protocol);
}

function isOrigin(text: string): boolean {
  return hasProtocol(/^https?:$/)(text) && new URL(text).href === `${new URL(text).origin}/`;
}

function isAddressRange(text: string): boolean {
  const [, address = "", prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = isIP(address) === 6 ? 128 : 32;
  return isIP(address) !== 0 && (prefix === undefined || (Number(prefix) >= 1 && Number(prefix) <= bits));
}
