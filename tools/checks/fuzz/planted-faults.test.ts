/** Proves that the properties can fail: a fault planted behind some inputs is found, made small and repeated. */
import type { Answer } from "@petstore/harness/network";
import type fc from "fast-check";
import { expect } from "vitest";
import { operation } from "./arbitraries/operations.js";
import { restRequests } from "./arbitraries/rest-requests.js";
import { checkParity, checkRequest, listAll, lostPets } from "./properties.js";
import { describeFailure, type Failure, findFailure } from "./runs.js";
import { type FuzzRequest, it, openSession } from "./session.js";

type Change = (answer: Answer) => Answer;

/** This seed draws the inputs that the faults are planted behind. */
const seed = 1;
const options = { tags: ["redis-server"] };

/** Changes the responses to requests whose path or body matches. */
function plant(when: RegExp, change: Change) {
  return ({ path, body }: FuzzRequest, answer: Answer) => (when.test(`${path}\n${body}`) ? change(answer) : answer);
}

async function findRepeatedly<T>(
  fault: string,
  values: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
): Promise<Failure> {
  const failure = await findFailure(values, check, { runs: 10_000, seed });
  if (failure === undefined) return expect.fail("The fault was not found");
  const repeated = await findFailure(values, check, { runs: 1, ...failure });
  expect(failure.message).toContain(fault);
  expect(repeated?.message).toContain(fault);
  return failure;
}

it("finds, shrinks and repeats a planted fault of REST", options, async ({ services }) => {
  using session = await openSession(
    services,
    plant(/limit=2\d\b/, (answer) => ({ ...answer, status: 500 })),
  );
  const failure = await findRepeatedly("5xx: 500", restRequests(session.document), (request) =>
    checkRequest(session, "rest", request),
  );
  expect(failure.message.match(/^rest: /gm)).toHaveLength(1);
  expect(describeFailure("REST", failure)).toMatch(/--name REST --seed \d+ --path [\d:]+$/);
});

it.for<[fault: string, when: RegExp, change: Change]>([
  ["create: graphql refuses a valid pet: VALIDATION_FAILED", /createPet.*"status":"sold"/s, refuse],
  ["create: the response shows", /createPet.*"status":"pending"/s, roundDigits],
  ["create: a repeated idempotency key adds a second pet", /createPet/, forgetReplay],
  ["parity: REST: success", /petsConnection.*"status":"sold"/s, refuse],
])("finds a planted difference between the APIs: %s", options, async ([fault, when, change], { services }) => {
  using session = await openSession(services, plant(when, change));
  await findRepeatedly(fault, operation, (given) => checkParity(session, given));
});

it("finds an acknowledged pet that a list shows with other digits", options, async ({ services }) => {
  using session = await openSession(services, plant(/limit=100\b/, roundDigits));
  await findFailure(operation, (given) => checkParity(session, given), { runs: 100, seed });
  expect(lostPets(session, await listAll(session, "graphql"))).toEqual([]);
  expect(lostPets(session, await listAll(session, "rest"))).toContainEqual(expect.stringMatching(/^lost: /));
});

/** As an API would answer that accepts less. */
function refuse(answer: Answer): Answer {
  if (answer.text.includes('"errors":')) return answer;
  const errors = [{ message: "no", extensions: { code: "VALIDATION_FAILED", status: 400 } }];
  return { ...answer, text: JSON.stringify({ errors, data: null }) };
}

/** As an API would answer that creates another pet. */
function forgetReplay({ headers: { "idempotency-replayed": _replayed, ...headers }, ...answer }: Answer): Answer {
  return { ...answer, headers };
}

/** As a parser that rounds numbers would. */
function roundDigits(answer: Answer): Answer {
  const round = (_all: string, start: string, digits: string) => start + BigInt(Number(digits));
  return { ...answer, text: answer.text.replaceAll(/("categoryId":"?)(-?\d{17,})/g, round) };
}
