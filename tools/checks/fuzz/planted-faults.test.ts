// @module-tag redis-server
/** Proves that the properties can fail: a fault planted behind some inputs is found. */
import type { Answer } from "@petstore/harness/network";
import { expect } from "vitest";
import { type Operation, operation } from "./arbitraries/operations.js";
import { checkParity, listAll, lostPets } from "./properties.js";
import { checkRandomly } from "./runs.js";
import { it, openSession } from "./session.js";

it.for<[fault: string, when: RegExp, change: (answer: Answer) => Answer]>([
  ["5xx: 500", /limit=2\d\b/, (answer) => ({ ...answer, status: 500 })],
  ["create: the response shows", /createPet.*"status":"pending"/s, roundDigits],
  ["parity: REST: success", /petsConnection.*"status":"sold"/s, refuse],
])("finds a planted fault: %s", async ([fault, when, change], { services }) => {
  using session = await openSession(services, ({ path, body }, answer) =>
    when.test(`${path}\n${body}`) ? change(answer) : answer,
  );
  const check = (given: Operation) => checkParity(session, given);
  await expect(checkRandomly(operation, check, { name: "any", runs: 10_000, seed: 1 })).rejects.toThrow(fault);
});

it("finds an acknowledged pet that a list shows with other digits", async ({ services }) => {
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
