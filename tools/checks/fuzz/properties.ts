/** The properties of every request, and of every operation that both APIs have. */
import { randomUUID } from "node:crypto";
import type { Operation as ApiOperation, Outcome, Pet, Send } from "../conformance/apis/api.js";
import { createGraphqlApi } from "../conformance/apis/graphql-api.js";
import type { ApiName } from "../conformance/apis/response-faults.js";
import { createRestApi, outcomeOf } from "../conformance/apis/rest-api.js";
import type { Headers } from "./arbitraries/headers.js";
import type { CreateOperation, ListOperation, Operation } from "./arbitraries/operations.js";
import type { NewPet } from "./arbitraries/pets.js";
import type { HttpRequest } from "./arbitraries/rest-requests.js";
import type { Session, TestCase } from "./session.js";

/** The response is as documented, and an acknowledged pet is as the request describes it. */
export function checkRequest(session: Session, api: ApiName, request: HttpRequest): Promise<void> {
  const { caller, newPet, headers, method, path, body } = request;
  const authorization = Array<string>(caller.times).fill(caller.scheme + session.keys[caller.key]);
  const options = { headers: { ...groupByName(headers), authorization }, ...(body !== undefined && { body }) };
  return session.run(async (testCase) => {
    const answer = await testCase.send({ api, method, path, ...options });
    if (api === "graphql" || answer.status !== 201) return;
    const outcome = outcomeOf({ kind: "create" }, answer);
    checkOutcome(session, testCase, api, outcome, newPet && expectedPet(session, newPet));
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
      const outcome = await ask(session, testCase, api, { kind: "list", query }, true);
      if (outcome.kind === "failure") return testCase.addFault(`list: it ends with ${outcome.code}`);
      pets.push(...outcome.pets);
      cursor = outcome.nextCursor ?? undefined;
    });
  } while (cursor !== undefined);
  return pets;
}

/** The acknowledged pets that a whole list lacks, or shows otherwise. */
export function lostPets({ pets }: Pick<Session, "pets">, list: readonly Pet[]): string[] {
  const listed = new Map(list.map((pet) => [pet.id, petText(pet)]));
  const lost = [...pets.values()].filter((pet) => listed.get(pet.id) !== petText(pet));
  return lost.map((pet) => `lost: ${petText(pet)} is listed as ${listed.get(pet.id)}`);
}

async function ask(session: Session, testCase: TestCase, api: ApiName, operation: ApiOperation, isConnection = false) {
  const send: Send = (method, path, options) => testCase.send({ api, method, path, ...options });
  const client =
    api === "rest" ? createRestApi(send) : createGraphqlApi(send, isConnection ? "petsConnection" : "pets");
  const authorization = [`Bearer ${session.keys.valid}`];
  const reply = await client.send({ operation, authorization, address: "2001:db8::1" });
  if (reply === undefined) throw new Error(`${client.name} cannot express the operation`);
  return reply.outcome;
}

async function checkList(session: Session, testCase: TestCase, operation: ListOperation) {
  const outcome = await ask(session, testCase, "rest", operation);
  compare(testCase, outcome, await ask(session, testCase, "graphql", operation, operation.isConnection));
  const { limit = "20", status, cursor } = operation.query;
  const isFilter = status === undefined || /^"(available|pending|sold)"$/.test(status);
  const isValid = /^[1-9]\d?$|^100$/.test(limit) && isFilter;
  if (outcome.kind === "success" && !isValid) testCase.addFault("list: an invalid query is accepted");
  if (outcome.kind === "failure" && isValid && cursor === undefined) {
    testCase.addFault(`list: a valid query is refused: ${outcome.code}`);
  }
}

async function checkCreate(session: Session, testCase: TestCase, { newPet, idempotencyKey }: CreateOperation) {
  const createIn = (api: ApiName) => {
    // Each create has a key of its own, so none is a replay.
    const key = idempotencyKey !== undefined && { idempotencyKey: randomUUID().slice(0, 13) + idempotencyKey };
    return ask(session, testCase, api, { kind: "create", input: newPet.text, ...key });
  };
  const [rest, graphql] = [await createIn("rest"), await createIn("graphql")];
  const isKey = idempotencyKey === undefined || /^[\x20-\x7e]{0,242}$/.test(idempotencyKey);
  const expected = isKey ? expectedPet(session, newPet) : "refused";
  checkOutcome(session, testCase, "rest", rest, expected);
  checkOutcome(session, testCase, "graphql", graphql, expected);
  // In GraphQL an ID may also be a string.
  if (!/"categoryId":\s*"/.test(newPet.text)) compare(testCase, withoutId(rest), withoutId(graphql));
}

function compare(testCase: TestCase, rest: Outcome, graphql: Outcome): void {
  const [left, right] = [rest, graphql].map((outcome) =>
    outcome.kind === "failure" ? outcome.code : `success ${outcome.pets.map(petText).join()}`,
  );
  if (left !== right) testCase.addFault(`parity: REST: ${left}; GraphQL: ${right}`);
}

function withoutId(outcome: Outcome): Outcome {
  return outcome.kind === "failure" ? outcome : { ...outcome, pets: outcome.pets.map((pet) => ({ ...pet, id: "" })) };
}

/** The pet that an API must store. `undefined` where the request leaves it open. */
type Expected = Omit<Pet, "id"> | "refused" | undefined;

/** The document decides by the name. Its check would round the number. */
function expectedPet({ responseCheck }: Session, { pet }: NewPet): Expected {
  if (pet === undefined) return undefined;
  const faults = responseCheck.valueFaults("NewPet", { ...pet, categoryId: 0 });
  return pet.name.isWellFormed() && faults.length === 0 ? pet : "refused";
}

/** Remembers the pet of a successful create. */
function checkOutcome(session: Session, testCase: TestCase, api: ApiName, outcome: Outcome, expected: Expected): void {
  if (outcome.kind === "failure") {
    if (typeof expected === "object") testCase.addFault(`create: ${api} refuses a valid pet: ${outcome.code}`);
    return;
  }
  const [pet] = outcome.pets;
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

function petText(pet: Pet | undefined): string {
  return JSON.stringify([pet?.id, pet?.name, pet?.categoryId, pet?.status]);
}

/** One header may have several values. */
function groupByName(headers: Headers): Record<string, readonly string[]> {
  const grouped = new Map<string, string[]>();
  for (const [name, value] of headers) grouped.set(name, [...(grouped.get(name) ?? []), value]);
  return Object.fromEntries(grouped);
}
