/** Who calls, and with which headers beside those a request needs. */
import fc from "fast-check";
import { notorious } from "./hostile.js";

/** What a header line can hold, and undici lets through. */
export const headerValue: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...notorious.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text))),
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 40,
  }),
  fc.integer({ min: 250, max: 300 }).map((length) => "k".repeat(length)),
);

export type KeyKind = "valid" | "starved" | "narrow" | "none" | "malformed" | "unknown" | "revoked" | "expired";

/** A caller, whose Authorization headers are written when the keys are known. */
export interface Caller {
  readonly key: KeyKind;
  readonly scheme: string;
  readonly times: number;
}

const kinds: readonly KeyKind[] = ["starved", "narrow", "none", "malformed", "unknown", "revoked", "expired"];

/** Mostly one whose requests get as far as they can. */
export const caller: fc.Arbitrary<Caller> = fc.record({
  key: fc.oneof(
    { weight: 12, arbitrary: fc.constant<KeyKind>("valid") },
    { weight: 3, arbitrary: fc.constantFrom(...kinds) },
  ),
  scheme: fc.oneof(
    { weight: 20, arbitrary: fc.constant("Bearer ") },
    { weight: 1, arbitrary: fc.constantFrom("bearer ", "BEARER   ", "Basic ", "", "Bearer", "Bearer\t", "Bearer ,") },
  ),
  times: fc.oneof({ weight: 30, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(2, 3) }),
});

type Headers = readonly (readonly [string, string])[];

/** Headers beside those a request needs, most often none. */
export const moreHeaders: fc.Arbitrary<Headers> = fc.oneof(
  { weight: 60, arbitrary: fc.constant<Headers>([]) },
  {
    weight: 40,
    arbitrary: fc.array(
      fc.oneof(
        fc.tuple(
          fc.constant("accept"),
          fc.oneof(
            fc.constantFrom(
              "*/*",
              "application/json",
              "application/graphql-response+json",
              "text/html",
              "application/*;q=0.1",
              "*/*;q=0",
              "application/json;q=2",
              ";,;",
            ),
            headerValue,
          ),
        ),
        fc.tuple(
          fc.constant("x-request-id"),
          fc.oneof(fc.constantFrom("mine-1", "a".repeat(128), "a".repeat(129)), headerValue),
        ),
        fc.tuple(fc.constant("origin"), fc.oneof(fc.constantFrom("https://shop.example", "null"), headerValue)),
        fc.tuple(
          fc.constant("x-forwarded-for"),
          fc.oneof(fc.constantFrom("::1", "1.2.3.4, 5.6.7.8", "::ffff:1.2.3.4", "unknown"), headerValue),
        ),
        fc.tuple(fc.constant("access-control-request-method"), headerValue),
        fc.tuple(
          fc.constantFrom(
            "traceparent",
            "range",
            "if-none-match",
            "if-modified-since",
            "cookie",
            "accept-encoding",
            "accept-language",
            "user-agent",
            "referer",
            "x-http-method-override",
            "x-forwarded-host",
            "x-forwarded-proto",
            "forwarded",
            "via",
            "te",
            "prefer",
            "dnt",
          ),
          headerValue,
        ),
        fc.tuple(fc.constantFrom("__proto__", "constructor", "x-ratelimit-limit", "toString"), headerValue),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 150, max: 260 })
      .map((count) => Array.from({ length: count }, (_, index) => [`x-${index}`, ""] as const)),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 8_000, max: 20_000 }).map((length) => [["x-long", "l".repeat(length)] as const]),
  },
);
