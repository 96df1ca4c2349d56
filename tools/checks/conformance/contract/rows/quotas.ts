import { create, get, list, type Problem, type Request, type Row, refused, rowsOf, succeeds } from "../row.js";

/** The settings under which these rows reach a ban and the limit of an address with few requests. */
export const quotaSettings: Readonly<Record<string, string>> = {
  BAN_STRIKES: "3",
  BAN_GRACE_MS: "0",
  BAN_EARLY_MS: "0",
  BAN_FIRST_MS: "90000",
  ANONYMOUS_REQUESTS_PER_MINUTE: "6",
};

const retryAfter = "the Retry-After header says how many seconds to wait.";

export const minute: Problem = usedUp("RATE_LIMIT_EXCEEDED", "minute");
const day = usedUp("DAILY_QUOTA_EXCEEDED", "day");
export const banned: Problem = refused(
  429,
  "API_KEY_BANNED",
  `The API key is banned for a while because it kept sending requests after 429; ${retryAfter}`,
);

const operations: Readonly<Record<string, Request>> = { list: list(), create: create(), get: get("1") };
const twice = [list(), create()];

function usedUp(code: Problem["code"], window: string): Problem {
  return refused(429, code, `The quota of this ${window} has too few units left for the request; ${retryAfter}`);
}

function spending(limit: number, remaining: number): Pick<Problem, "headers"> {
  return { headers: { "x-ratelimit-limit": `${limit}`, "x-ratelimit-remaining": `${remaining}` } };
}

export const quotaRows: readonly Row[] = [
  ...rowsOf(
    "every request costs one unit, with any response",
    {
      "a list": list(),
      "a create": create(),
      "a get": get("1"),
      "refused parameters": list({ limit: "0" }),
      "a refused body": create("{}"),
      "a large body": create(undefined, { bodyBytes: 65_537 }),
      "another media type": create(undefined, { headers: { "content-type": "text/plain" } }),
      "another method": list({}, { method: "DELETE" }),
      "an unacceptable type": list({}, { headers: { accept: "text/html" } }),
    },
    (request: Request) => ({
      limits: { perMinute: 10, perDay: 100 },
      before: [request],
      send: list(),
      expected: { ...succeeds, ...spending(10, 8) },
    }),
  ),
  {
    title: "RateLimit and RateLimit-Policy list both windows",
    limits: { perMinute: 10, perDay: 100 },
    send: list(),
    expected: { ...succeeds, headers: { "ratelimit-policy": '"minute";q=10;w=60, "day";q=100;w=86400' } },
  },
  {
    title: "the headers describe the day if it has less left",
    limits: { perMinute: 10, perDay: 5 },
    send: list(),
    expected: { ...succeeds, ...spending(5, 4) },
  },
  ...rowsOf("the minute is used up", operations, (send) => ({
    limits: { perMinute: 2, perDay: 100 },
    before: twice,
    send,
    expected: { ...minute, ...spending(2, 0) },
  })),
  ...rowsOf("the day is used up", operations, (send) => ({
    limits: { perMinute: 100, perDay: 2 },
    before: twice,
    send,
    expected: { ...day, ...spending(2, 0) },
  })),
  ...rowsOf(
    "the quota is checked before the rest of the request",
    {
      "the parameters": list({ limit: "0" }),
      "the body": create("{", { body: "{" }),
      "the media type": create(undefined, { headers: { "content-type": "text/plain" } }),
      "the method": list({}, { method: "DELETE" }),
    },
    (send: Request) => ({ limits: { perMinute: 1, perDay: 100 }, before: [list()], send, expected: minute }),
  ),
  ...rowsOf("a key that continues after 429 is banned", operations, (send) => ({
    limits: { perMinute: 1, perDay: 100 },
    before: Array.from({ length: 5 }, () => list()),
    send,
    expected: { ...banned, ...spending(1, 0) },
  })),
  ...rowsOf(
    "an address without a valid key has a limit",
    { list: list(), "create with an invalid key": create(undefined, { authorization: () => ["Bearer nonsense"] }) },
    (send: Request) => ({
      key: "none",
      before: Array.from({ length: 6 }, () => list()),
      send,
      expected: { ...minute, ...spending(6, 0) },
    }),
  ),
];
