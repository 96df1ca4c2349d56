import type { Answer } from "../apis/api.js";

/** Everything about an answer that APIs must agree on, by name. What differs from call to call is named, not repeated. */
export type Facts = ReadonlyMap<string, string>;

const secondsPerMinute = 60;
const secondsPerDay = 86_400;

/** Headers that say the same for the same request, whichever API it goes through. */
const comparedHeaders = [
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
  "allow",
  "cache-control",
  "content-type",
  "idempotency-replayed",
  "ratelimit-policy",
  "www-authenticate",
  "x-content-type-options",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
];

export function factsOf(answer: Answer, isCreation: boolean): Facts {
  const { outcome, headers } = answer;
  const facts = new Map<string, string>([["outcome", outcome.kind]]);
  if (outcome.kind === "failure") {
    facts.set("code", outcome.code).set("status", `${outcome.status}`).set("message", outcome.message);
  } else {
    const pets = outcome.pets.map((pet) => (isCreation ? { ...pet, id: kindOfId(pet.id) } : pet));
    facts.set("pets", JSON.stringify(pets.map(({ id, name, categoryId, status }) => [id, name, categoryId, status])));
    if (outcome.nextCursor !== undefined) facts.set("next cursor", outcome.nextCursor ?? "none");
  }
  for (const name of comparedHeaders) {
    const value = headers[name];
    if (value !== undefined) facts.set(name, value);
  }
  const retryAfter = headers["retry-after"];
  if (retryAfter !== undefined) facts.set("retry-after", waitOf(retryAfter, answer));
  facts.set("x-ratelimit-reset", windowOf(headers["x-ratelimit-reset"], answer.receivedAtMs));
  // `t`, the seconds left, runs on between two calls.
  facts.set("ratelimit", headers.ratelimit?.replaceAll(/;t=\d+/g, "") ?? "absent");
  facts.set("x-request-id", kindOfRequestId(headers["x-request-id"]));
  return facts;
}

/** Seconds: it is rounded up, and the APIs are asked one after the other. */
const tolerance = 2;

/** Whether two APIs say the same. They were asked one after the other, so the rest of a ban is shorter at the second. */
export function isSame(name: string, left: string | undefined, right: string | undefined): boolean {
  if (left === right) return true;
  const [first, second] = [Number(left), Number(right)];
  // Short waits are constants of the service, not the rest of anything.
  return name === "retry-after" && Math.min(first, second) > tolerance && Math.abs(first - second) <= tolerance;
}

function waitOf(retryAfter: string, { outcome, headers, receivedAtMs }: Answer): string {
  const untilReset = Number(headers["x-ratelimit-reset"]) - receivedAtMs / 1_000;
  const isRefused = outcome.kind === "failure" && outcome.status === 429;
  return isRefused && Math.abs(Number(retryAfter) - untilReset) <= tolerance ? "until the reset" : retryAfter;
}

/** Which window ends then. */
function windowOf(reset: string | undefined, nowMs: number): string {
  const seconds = Number(reset);
  const leftSeconds = seconds - nowMs / 1_000;
  if (seconds % secondsPerMinute === 0 && leftSeconds > -1 && leftSeconds <= secondsPerMinute + 1)
    return "end of the minute";
  if (seconds % secondsPerDay === 0 && leftSeconds > 0 && leftSeconds <= secondsPerDay + 1) return "end of the day";
  return reset ?? "absent";
}

function kindOfRequestId(id: string | undefined): string {
  return id !== undefined && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id) ? "a new one" : (id ?? "absent");
}

function kindOfId(id: string): string {
  return /^[1-9]\d{0,18}$/.test(id) ? "assigned" : id;
}
