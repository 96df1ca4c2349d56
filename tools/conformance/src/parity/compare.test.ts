import { describe, expect, it } from "vitest";
import type { Answer } from "../apis/api.js";
import { compare } from "./compare.js";
import { factsOf } from "./facts.js";

const receivedAtMs = Date.UTC(2027, 4, 3, 12, 0, 20);
const endOfMinute = `${receivedAtMs / 1_000 + 40}`;
const endOfDay = `${receivedAtMs / 1_000 + 12 * 3_600 - 20}`;

const listed: Answer = {
  receivedAtMs,
  outcome: {
    kind: "success",
    pets: [{ id: "7", name: "Rex", categoryId: "9007199254740993", status: "sold" }],
    nextCursor: null,
  },
  headers: {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "59",
    "x-ratelimit-reset": endOfMinute,
    ratelimit: '"minute";r=59;t=40, "day";r=999;t=43180',
    "ratelimit-policy": '"minute";q=60;w=60',
    "x-request-id": "0c8f7f1e-3c38-4c4b-9d5f-111111111111",
    "cache-control": "no-store",
  },
};

const refused: Answer = {
  receivedAtMs,
  outcome: { kind: "failure", code: "API_KEY_BANNED", message: "The key is banned.", status: 429 },
  headers: { ...listed.headers, "retry-after": "90", "www-authenticate": "Bearer" },
};

describe("two APIs that answer alike", () => {
  it.each([
    ["a later moment of the same minute", { ratelimit: '"minute";r=59;t=39, "day";r=999;t=43179' }],
    ["another new request id", { "x-request-id": "ffffffff-3c38-4c4b-9d5f-222222222222" }],
  ])("have no difference for %s", (_what, headers) => {
    expect(differencesOf(listed, withHeaders(listed, headers))).toEqual([]);
  });

  it("have no difference where a ban is two seconds nearer to its end at the second", () => {
    expect(differencesOf(refused, withHeaders(refused, { "retry-after": "88" }))).toEqual([]);
  });

  it("have no difference where one does not tell of a next page", () => {
    const untold: Answer = { ...listed, outcome: { kind: "success", pets: petsOf(listed) } };
    expect(differencesOf(listed, untold)).toEqual([]);
  });
});

describe("a planted difference is reported by its name", () => {
  it.each([
    ["x-ratelimit-limit", { "x-ratelimit-limit": "61" }],
    ["x-ratelimit-remaining", { "x-ratelimit-remaining": "58" }],
    ["x-ratelimit-reset", { "x-ratelimit-reset": endOfDay }],
    ["ratelimit", { ratelimit: '"minute";r=58;t=40, "day";r=999;t=43180' }],
    ["ratelimit-policy", { "ratelimit-policy": "none" }],
    ["x-request-id", { "x-request-id": "mine" }],
    ["cache-control", { "cache-control": "public" }],
    ["idempotency-replayed", { "idempotency-replayed": "true" }],
  ])("%s", (name, headers) => {
    expect(differencesOf(listed, withHeaders(listed, headers))).toEqual([expect.stringMatching(`^${name}: `)]);
  });

  it.each([
    ["retry-after", "85"],
    ["www-authenticate", "Basic"],
  ])("%s of a refusal", (name, value) => {
    expect(differencesOf(refused, withHeaders(refused, { [name]: value }))).toEqual([
      expect.stringMatching(`^${name}: `),
    ]);
  });

  it.each([
    ["code", { code: "RATE_LIMIT_EXCEEDED" }],
    ["message", { message: "Come back later." }],
    ["status", { status: 503 }],
  ])("%s", (name, fault) => {
    const other: Answer = { ...refused, outcome: { ...failureOf(refused), ...fault } };
    expect(differencesOf(refused, other)).toContainEqual(expect.stringMatching(`^${name}: `));
  });

  it.each([
    ["a digit of an int64", { categoryId: "9007199254740992" }],
    ["a letter of a name", { name: "rex" }],
    ["a status", { status: "pending" }],
    ["an id", { id: "8" }],
  ])("%s", (_what, fault) => {
    const pets = petsOf(listed).map((pet) => ({ ...pet, ...fault }));
    const other: Answer = { ...listed, outcome: { kind: "success", pets, nextCursor: null } };
    expect(differencesOf(listed, other)).toEqual([expect.stringMatching(/^pets: /)]);
  });

  it("a success in place of a refusal", () => {
    expect(differencesOf(refused, listed)).toContainEqual(expect.stringMatching(/^outcome: /));
  });

  it("a header that is missing", () => {
    const { "cache-control": _missing, ...headers } = listed.headers;
    expect(differencesOf(listed, { ...listed, headers })).toEqual([
      'cache-control: "no-store" at REST, nothing at graphql',
    ]);
  });
});

describe("a deviation by design", () => {
  const deviation = { api: "graphql", fact: "message", value: "Banned.", reason: "for the test" } as const;
  const deviating: Answer = { ...refused, outcome: { ...failureOf(refused), message: "Banned." } };

  it("is no difference where it is met, and is told", () => {
    const { differences, met } = compareAnswers(refused, deviating, [deviation]);
    expect({ differences, met }).toEqual({ differences: [], met: [deviation] });
  });

  it("is a difference where the API says something else again", () => {
    const other: Answer = { ...refused, outcome: { ...failureOf(refused), message: "Away." } };
    expect(compareAnswers(refused, other, [deviation]).differences).toHaveLength(1);
  });

  it("is a difference where the API says what REST says: the table is out of date", () => {
    expect(compareAnswers(refused, refused, [deviation]).differences).toHaveLength(1);
  });

  it("excuses no other API", () => {
    const elsewhere = { ...deviation, api: "client" } as const;
    expect(compareAnswers(refused, deviating, [elsewhere]).differences).toHaveLength(1);
  });
});

function differencesOf(reference: Answer, other: Answer): readonly string[] {
  return compareAnswers(reference, other).differences;
}

function compareAnswers(reference: Answer, other: Answer, deviations: Parameters<typeof compare>[3] = []) {
  return compare(factsOf(reference, false), factsOf(other, false), "graphql", deviations);
}

function withHeaders(answer: Answer, headers: Readonly<Record<string, string>>): Answer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function petsOf({ outcome }: Answer) {
  return outcome.kind === "success" ? outcome.pets : [];
}

function failureOf({ outcome }: Answer) {
  if (outcome.kind === "success") throw new Error("not a failure");
  return outcome;
}
