import { get, list, type Problem, type Row, refused, succeeds } from "../row.js";
import { missing, suspended } from "./keys.js";
import { minute } from "./quotas.js";

/** The settings of a store that is in a brownout for the next 24 hours. */
export const brownoutSettings: Readonly<Record<string, string>> = {
  TEST_STORE: "true",
  TEST_CLOCK: "2027-03-01T12:00:00Z",
  DEPRECATION_BROWNOUTS: "2027-03-01T12:00:00Z/P1D",
};

/** Retry-After is hours away, and with these limits the headers describe the minute. */
const limits = { perMinute: 10, perDay: 100 };

const refusal: Problem = refused(
  410,
  "ENDPOINT_REMOVED",
  "This is a rehearsal of the removal of GET /pets/{petId} on 5 December 2030. " +
    "It works again from Tue, 02 Mar 2027 12:00:00 GMT; use GET /pets.",
  {
    deprecation: "@1795132800",
    sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
    "retry-after": "after the reset",
    "x-ratelimit-limit": "10",
    "x-ratelimit-remaining": "10",
  },
);

const inBrownout: readonly Omit<Row, "isInBrownout">[] = [
  {
    title: "a get during a brownout is refused, says when it ends, and costs nothing",
    limits,
    before: [get("1"), get("1")],
    send: get("1"),
    expected: refusal,
  },
  {
    title: "a list during a brownout is returned, and costs a unit",
    limits,
    before: [get("1"), list()],
    send: list(),
    expected: { ...succeeds, headers: { "retry-after": "", "x-ratelimit-remaining": "8" } },
  },
  { title: "the key is checked before a brownout", key: "none", send: get("1"), expected: missing },
  { title: "the account is checked before a brownout", key: "suspended", send: get("1"), expected: suspended },
  {
    title: "the quota is checked before a brownout",
    limits: { perMinute: 1, perDay: 100 },
    before: [list()],
    send: get("1"),
    expected: minute,
  },
];

export const brownoutRows: readonly Row[] = inBrownout.map((row) => ({ ...row, isInBrownout: true }));
