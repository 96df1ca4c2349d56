/** The properties of every request, and of every operation that both APIs have. */
import { randomUUID } from "node:crypto";
import { maxInt64, minInt64, parseInt64 } from "@petstore/core";
import type { ResponseCheck } from "@petstore/harness/responses";
import type { Operation as ApiOperation, Outcome, Pet, Send } from "../conformance/apis/api.js";
import { createGraphqlApi } from "../conformance/apis/graphql-api.js";
import { createRestApi, outcomeOf } from "../conformance/apis/rest-api.js";
import type { Headers } from "./arbitraries/headers.js";
import type { CreateOperation, ListOperation, Operation } from "./arbitraries/operations.js";
import type { NewPet } from "./arbitraries/pets.js";
import type { HttpRequest } from "./arbitraries/rest-requests.js";
import type { ApiName } from "./response-faults.js";
import type { Session, TestCase } from "./session.js";

/** The response is as documented, and an acknowledged pet is as the request describes it. */
export function checkRequest(session: Session, api: ApiName, request: HttpRequest): Promise<void> {
  const { caller, newPet, headers, method, path, body } = request;
  const authorization = Array<string>(caller.times).fill(caller.scheme + session.keys[caller.key]);
  const options = { headers: { ...groupByName(headers), authorization }, ...(body !== undefined && { body }) };
  return session.run(async (testCase) => {
    const answer = await testCase.send({ api, method, path, ...options });
    if (api === "graphql" || answer.status !== 201) return;
    const expected = newPet && (expectedPet(session.responseCheck, api, newPet) ?? "refused");
    acknowledge(session, testCase, outcomeOf({ kind: "create" }, answer), expected);
  });
}

/** Both APIs accept and refuse the same operations for the same reasons, as the OpenAPI document says. */
export function checkParity(session: Session, operation: Operation): Promise<void> {
  return session.run((testCase) =>
    operation.kind === "list" ? checkList(session, testCase, operation) : checkCreate(session, testCase, operation),
  );
}

/** The whole list of an API, page by page. */
export async function listAll(session: Session, api: ApiName): Promise<readonly Pet[]> {
  const pets: Pet[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: "100", ...(cursor !== undefined && { cursor: JSON.stringify(cursor) }) };
    await session.run(async (testCase) => {
      const { outcome } = await ask(session, testCase, api, { kind: "list", query }, true);
      if (outcome.kind === "failure") return testCase.addFault(`list: it ends with ${outcome.code}`);
      pets.push(...outcome.pets);
      cursor = outcome.nextCursor ?? undefined;
    });
  } while (cursor !== undefined);
  return pets;
}

/** The acknowledged pets that a whole list lacks, or shows otherwise. */
export function lostPets({ pets }: Session, list: readonly Pet[]): string[] {
  const listed = new Map(list.map((pet) => [pet.id, petText(pet)]));
  return [...pets.values()]
    .filter((pet) => listed.get(pet.id) !== petText(pet))
    .map((pet) => `lost: ${petText(pet)} is listed as ${listed.get(pet.id)}`);
}

async function ask(session: Session, testCase: TestCase, api: ApiName, operation: ApiOperation, isConnection = false) {
  const send: Send = (method, path, options) => testCase.send({ api, method, path, ...options });
  const client =
    api === "rest" ? createRestApi(send) : createGraphqlApi(send, isConnection ? "petsConnection" : "pets");
  const reply = await client.send({
    operation,
    authorization: [`Bearer ${session.keys.valid}`],
    address: "2001:db8::1",
  });
  if (reply === undefined) throw new Error(`${client.name} cannot express the operation`);
  return { outcome: reply.outcome, isReplay: reply.headers["idempotency-replayed"] === "true" };
}

async function checkList(session: Session, testCase: TestCase, operation: ListOperation) {
  const { outcome } = await ask(session, testCase, "rest", operation);
  const { outcome: other } = await ask(session, testCase, "graphql", operation, operation.isConnection);
  compare(testCase, outcome, other);
  const { limit = "20", status, cursor } = operation.query;
  const isFilter = status === undefined || /^"(available|pending|sold)"$/.test(status);
  const isValid = /^[1-9]\d?$|^100$/.test(limit) && isFilter;
  if (outcome.kind === "failure") {
    if (isValid && cursor === undefined) testCase.addFault(`list: a valid query is refused: ${outcome.code}`);
    return;
  }
  if (!isValid) testCase.addFault("list: an invalid query is accepted");
  const { pets } = outcome;
  if (pets.length > Number(limit)) testCase.addFault("list: it is longer than the limit");
  if (status !== undefined && pets.some((pet) => JSON.stringify(pet.status) !== status)) {
    testCase.addFault("list: it has pets with another status");
  }
  const ids = pets.map(({ id }) => BigInt(id));
  if (ids.some((id, index) => index > 0 && id <= (ids[index - 1] ?? id))) testCase.addFault("list: ids do not ascend");
}

async function checkCreate(session: Session, testCase: TestCase, { newPet, idempotencyKey }: CreateOperation) {
  const createIn = (api: ApiName, { text }: NewPet, key: string | undefined) =>
    ask(session, testCase, api, { kind: "create", input: text, ...(key !== undefined && { idempotencyKey: key }) });
  const uniqueKey = () => idempotencyKey && randomUUID().slice(0, 13) + idempotencyKey.text;
  const keys = { rest: uniqueKey(), graphql: uniqueKey() };
  const isKey = keys.rest === undefined || /^[\x20-\x7e]{1,255}$/.test(keys.rest);
  const outcomes: Outcome[] = [];
  for (const api of ["rest", "graphql"] as const) {
    const { outcome } = await createIn(api, newPet, keys[api]);
    const expected = isKey ? expectedPet(session.responseCheck, api, newPet) : undefined;
    outcomes.push(outcome);
    if (outcome.kind === "success") acknowledge(session, testCase, outcome, expected ?? "refused");
    else if (expected !== undefined) testCase.addFault(`create: ${api} refuses a valid pet: ${outcome.code}`);
  }
  const [first, second] = outcomes;
  if (first?.kind === "failure" && second?.kind === "failure") compare(testCase, first, second);
  if (idempotencyKey?.repeatedWith === undefined || first?.kind !== "success") return;
  const repeated = idempotencyKey.repeatedWith === "same" ? newPet : idempotencyKey.repeatedWith;
  const { outcome, isReplay } = await createIn("graphql", repeated, keys.rest);
  if (outcome.kind === "success") {
    if (!isReplay || petText(outcome.pets[0]) !== petText(first.pets[0])) {
      testCase.addFault("create: a repeated idempotency key adds a second pet");
    }
  } else if (idempotencyKey.repeatedWith === "same") {
    testCase.addFault(`create: the repetition of a create is refused: ${outcome.code}`);
  }
}

function compare(testCase: TestCase, rest: Outcome, graphql: Outcome): void {
  const [left, right] = [rest, graphql].map((outcome) =>
    outcome.kind === "failure" ? outcome.code : `success ${outcome.pets.map(petText).join()}`,
  );
  if (left !== right) testCase.addFault(`parity: REST: ${left}; GraphQL: ${right}`);
}

function acknowledge(session: Session, testCase: TestCase, outcome: Outcome, expected: Expected): void {
  const [pet] = outcome.kind === "success" ? outcome.pets : [];
  if (pet === undefined) {
    testCase.addFault("create: a success without a pet");
    return;
  }
  const before = session.pets.get(pet.id) ?? pet;
  session.pets.set(pet.id, pet);
  if (petText(before) !== petText(pet)) testCase.addFault(`pet: two pets have the id ${pet.id}`);
  if (expected === "refused") testCase.addFault("create: an invalid pet is accepted");
  else if (expected !== undefined && petText({ id: pet.id, ...expected }) !== petText(pet)) {
    testCase.addFault(`create: the response shows ${petText(pet)}`);
  }
}

/** `undefined` where the request leaves it open. */
type Expected = Omit<Pet, "id"> | "refused" | undefined;

/** The pet that the API must store; `undefined` when it must refuse the body. */
function expectedPet(responseCheck: ResponseCheck, api: ApiName, { value }: NewPet): Omit<Pet, "id"> | undefined {
  // In GraphQL an ID may also be a string of digits.
  const category = value?.categoryId;
  const categoryId = api === "graphql" && typeof category === "string" ? parseInt64(category) : category;
  // The check of the document would round these numbers.
  if (typeof categoryId !== "bigint" || categoryId < minInt64 || categoryId > maxInt64) return undefined;
  if (responseCheck.valueFaults("NewPet", { ...value, categoryId: 0 }).length > 0) return undefined;
  const { name, status = "available" } = value as { readonly name: string; readonly status?: string };
  return name.isWellFormed() ? { name, categoryId: `${categoryId}`, status } : undefined;
}

function petText(pet: Pet | undefined): string {
  return JSON.stringify([pet?.id, pet?.name, pet?.categoryId, pet?.status]);
}

/** One header may have several values. */
function groupByName(headers: Headers): Record<string, readonly string[]> {
  const grouped = new Map<string, string[]>();
  for (const [name, value] of headers)
    grouped.set(name.toLowerCase(), [...(grouped.get(name.toLowerCase()) ?? []), value]);
  return Object.fromEntries(grouped);
}
