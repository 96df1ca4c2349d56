/** Proves that the properties can fail: a fault planted behind some inputs is found, made small and repeated. */
import type { Answer } from "@petstore/harness/network";
import type fc from "fast-check";
import { expect } from "vitest";
import { operation } from "./arbitraries/operations.js";
import { restRequests } from "./arbitraries/rest-requests.js";
import { checkParity, checkRequest, listAll, lostPets } from "./properties.js";
import { checkRandomly, type RunOptions } from "./runs.js";
import { type FuzzRequest, it, openSession } from "./session.js";

type Change = (answer: Answer) => Answer;

const options = { tags: ["redis-server"] };

/** Changes the responses to requests whose path or body matches. */
function plant(when: RegExp, change: Change) {
  return ({ path, body }: FuzzRequest, answer: Answer) => (when.test(`${path}\n${body}`) ? change(answer) : answer);
}

/** Finds the fault, and again by the command of the message. Returns the message. */
async function findRepeatedly<T>(
  fault: string,
  values: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
): Promise<string> {
  const find = (drawn: Pick<RunOptions, "seed" | "path">) =>
    checkRandomly(values, check, { name: "any", runs: 10_000, ...drawn }).then(() => "no fault", String);
  const message = await find({ seed: 1 });
  const [, seed, path] = /--seed (\d+) --path ([\d:]+)$/.exec(message) ?? [];
  expect(message).toContain(fault);
  expect(await find({ seed: Number(seed), path })).toContain(fault);
  return message;
}

it("finds, shrinks and repeats a planted fault of REST", options, async ({ services }) => {
  const plantedFault = plant(/limit=2\d\b/, (answer) => ({ ...answer, status: 500 }));
  using session = await openSession(services, plantedFault);
  const values = restRequests(session.document);
  const message = await findRepeatedly("5xx: 500", values, (request) => checkRequest(session, "rest", request));
  expect(message.match(/^rest: /gm)).toHaveLength(1);
});

it.for<[fault: string, when: RegExp, change: Change]>([
  ["create: the response shows", /createPet.*"status":"pending"/s, roundDigits],
  ["parity: REST: success", /petsConnection.*"status":"sold"/s, refuse],
])("finds a planted difference between the APIs: %s", options, async ([fault, when, change], { services }) => {
  using session = await openSession(services, plant(when, change));
  await findRepeatedly(fault, operation, (given) => checkParity(session, given));
});

it("finds an acknowledged pet that a list shows with other digits", options, async ({ services }) => {
  using session = await openSession(services);
  const newPet = { text: '{"name":"Rex","categoryId":9007199254740993}' };
  await checkParity(session, { kind: "create", newPet, idempotencyKey: undefined, repeatedWith: undefined });
  const list = await listAll(session, "rest");
  expect(lostPets(session, list)).toEqual([]);
  const rounded = list.map((pet) => ({ ...pet, categoryId: `${BigInt(Number(pet.categoryId))}` }));
  expect(lostPets(session, rounded)).toHaveLength(2);
});

/** As an API would answer that accepts less. */
function refuse(answer: Answer): Answer {
  if (answer.text.includes('"errors":')) return answer;
  const errors = [{ message: "no", extensions: { code: "VALIDATION_FAILED", status: 400 } }];
  return { ...answer, text: JSON.stringify({ errors, data: null }) };
}

/** As a parser that rounds numbers would. */
function roundDigits(answer: Answer): Answer {
  const round = (_all: string, start: string, digits: string) => start + BigInt(Number(digits));
  return { ...answer, text: answer.text.replaceAll(/("categoryId":"?)(-?\d{17,})/g, round) };
}
