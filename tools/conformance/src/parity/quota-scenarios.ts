import type { Answer } from "../apis/api.js";
import type { Scenario } from "./scenario.js";
import { create, list, pet } from "./steps.js";

/** The environment in which the bans and the addresses of these rows are refused soon enough to wait for it. */
export const quotaEnvironment: Readonly<Record<string, string>> = {
  BAN_STRIKES: "3",
  BAN_GRACE_MS: "0",
  BAN_EARLY_MS: "0",
  BAN_FIRST_MS: "90000",
  ANONYMOUS_REQUESTS_PER_MINUTE: "6",
};

const minute = "RATE_LIMIT_EXCEEDED";
const day = "DAILY_QUOTA_EXCEEDED";
const banned = "API_KEY_BANNED";

export const quotaScenarios: readonly Scenario[] = [
  {
    name: "quota: counted down, whatever is answered",
    limits: { perMinute: 10, perDay: 100 },
    steps: [list({}), list({ limit: "0" }, "VALIDATION_FAILED"), create(pet), list({})],
    holds: (answers) => {
      const left = answers.map(({ headers }) => headers["x-ratelimit-remaining"]).join();
      return left === "9,8,7,6" ? undefined : `X-RateLimit-Remaining is ${left}`;
    },
  },
  {
    name: "quota: the day speaks where it has less left",
    limits: { perMinute: 10, perDay: 5 },
    steps: [list({}), create(pet)],
  },
  {
    name: "quota: the minute is used up",
    limits: { perMinute: 2, perDay: 100 },
    steps: [list({}), create(pet), list({}, minute), create(pet, minute)],
    holds: retryAfterIsThere,
  },
  {
    name: "quota: the day is used up",
    limits: { perMinute: 100, perDay: 2 },
    steps: [list({}), create(pet), list({}, day), create(pet, day)],
    holds: retryAfterIsThere,
  },
  {
    name: "quota: both are used up",
    limits: { perMinute: 1, perDay: 1 },
    steps: [list({}), list({}, day)],
    holds: retryAfterIsThere,
  },
  {
    name: "quota: used up, before anything else of the request is judged",
    limits: { perMinute: 1, perDay: 100 },
    steps: [list({}), list({ limit: "0" }, minute), create("{", minute, { body: "{" })],
  },
  {
    name: "ban: of a key that calls on, its end coming nearer",
    limits: { perMinute: 1, perDay: 100 },
    steps: [
      list({}),
      ...Array.from({ length: 4 }, (_, index) => list({}, index < 3 ? minute : banned, { waitMs: 10 })),
      create(pet, banned),
      list({}, banned, { waitMs: 1_050 }),
    ],
    holds: (answers) => {
      const [early = 0, late = 0] = answers.slice(-2).map(({ headers }) => Number(headers["retry-after"]));
      return late < early && late > 80 ? undefined : `Retry-After is ${early}, then ${late}`;
    },
  },
  {
    name: "quota: of an address that shows no valid key",
    key: "none",
    steps: [
      ...Array.from({ length: 6 }, () => list({}, "API_KEY_MISSING")),
      list({}, minute),
      create(pet, minute, { authorization: () => ["Bearer nonsense"] }),
    ],
    holds: retryAfterIsThere,
  },
];

function retryAfterIsThere(answers: readonly Answer[]): string | undefined {
  const missing = answers.find(
    ({ outcome, headers }) =>
      outcome.kind === "failure" && outcome.status === 429 && !/^[1-9]\d*$/.test(headers["retry-after"] ?? ""),
  );
  return missing === undefined ? undefined : "a 429 has no Retry-After";
}
