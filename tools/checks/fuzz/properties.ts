/** The properties of every request, and of every operation that both APIs have. */
import { randomUUID } from "node:crypto";
import type { Operation as ApiOperation, Outcome, Pet, Send } from "../conformance/apis/api.js";
import { createGraphqlApi } from "../conformance/apis/graphql-api.js";
import type { ApiName } from "../conformance/apis/response-faults.js";
import { createRestApi, outcomeOf } from "../conformance/apis/rest-api.js";
import type { Headers } from "./arbitraries/headers.js";
import type { CreateOperation, ListOperation, NewPet, Operation } from "./arbitraries/pets.js";
import type { HttpRequest } from "./arbitraries/rest-requests.js";
import type { SendRequest, Session } from "./session.js";

/** The response is as documented, and an acknowledged pet is as the request describes it. */
export function checkRequest(session: Session, api: ApiName, request: HttpRequest): Promise<void> {
  const { caller, newPet, headers, method, path, body } = request;
  const authorization = Array<string>(caller.times).fill(caller.scheme + session.keys[caller.key]);
  const options = { headers: { ...groupByName(headers), authorization }, ...(body !== undefined && { body }) };
  return session.run(async (send) => {
    const answer = await send({ api, method, path, ...options });
    if (api === "graphql" || answer.status !== 201) return;
    checkOutcome(session, api, outcomeOf({ kind: "create" }, answer), newPet && expectedPet(session, "rest", newPet));
  });
}

/** Both APIs accept and refuse the same operations for the same reasons, as the OpenAPI document says. */
export function checkParity(session: Session, operation: Operation): Promise<void> {
  return session.run((send) =>
    operation.kind === "list" ? checkList(session, send, operation) : checkCreate(session, send, operation),
  );
}

/** The whole list of an API, page by page. */
export async function listAll(session: Session, api: ApiName): Promise<readonly Pet[]> {
  const pets: Pet[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: "100", ...(cursor !== undefined && { cursor: JSON.stringify(cursor) }) };
    await session.run(async (send) => {
      const outcome = await ask(session, send, api, { kind: "list", query }, true);
      if (outcome.kind === "failure") throw new Error(`list: it ends with ${outcome.code}`);
      pets.push(...outcome.pets);
      cursor = outcome.nextCursor ?? undefined;
    });
  } while (cursor !== undefined);
  return pets;
}

async function ask(session: Session, send: SendRequest, api: ApiName, operation: ApiOperation, isConnection = false) {
  const sendTo: Send = (method, path, options) => send({ api, method, path, ...options });
  const field = isConnection ? "petsConnection" : "pets";
  const client = api === "rest" ? createRestApi(sendTo) : createGraphqlApi(sendTo, field);
  const authorization = [`Bearer ${session.keys.valid}`];
  const reply = await client.send({ operation, authorization, address: "2001:db8::1" });
  if (reply === undefined) throw new Error(`${client.name} cannot express the operation`);
  return reply.outcome;
}

async function checkList(session: Session, send: SendRequest, operation: ListOperation): Promise<void> {
  const outcome = await ask(session, send, "rest", operation);
  compare(outcome, await ask(session, send, "graphql", operation, operation.isConnection));
  const { limit = "20", status, cursor } = operation.query;
  const isFilter = status === undefined || /^"(available|pending|sold)"$/.test(status);
  const isValid = /^[1-9]\d?$|^100$/.test(limit) && isFilter;
  if (outcome.kind === "success" && !isValid) throw new Error("list: an invalid query is accepted");
  if (outcome.kind === "failure" && isValid && cursor === undefined) {
    throw new Error(`list: a valid query is refused: ${outcome.code}`);
  }
}

async function checkCreate(session: Session, send: SendRequest, { newPet, idempotencyKey }: CreateOperation) {
  const createIn = (api: ApiName) => {
    // Each create has a key of its own, so none is a replay.
    const key = idempotencyKey !== undefined && { idempotencyKey: randomUUID().slice(0, 13) + idempotencyKey };
    return ask(session, send, api, { kind: "create", input: newPet.text, ...key });
  };
  const [rest, graphql] = [await createIn("rest"), await createIn("graphql")];
  const isKey = idempotencyKey === undefined || /^[\x20-\x7e]{0,242}$/.test(idempotencyKey);
  const expectedIn = (api: ApiName) => (isKey ? expectedPet(session, api, newPet) : "refused");
  checkOutcome(session, "rest", rest, expectedIn("rest"));
  checkOutcome(session, "graphql", graphql, expectedIn("graphql"));
  // In GraphQL an ID may also be a string, and null is an absent status.
  if (!/"categoryId":\s*"|"status":\s*null/.test(newPet.text)) compare(withoutId(rest), withoutId(graphql));
}

function compare(rest: Outcome, graphql: Outcome): void {
  const [left, right] = [rest, graphql].map((outcome) =>
    outcome.kind === "failure" ? outcome.code : `success ${outcome.pets.map(petText).join()}`,
  );
  if (left !== right) throw new Error(`parity: REST: ${left}; GraphQL: ${right}`);
}

function withoutId(outcome: Outcome): Outcome {
  return outcome.kind === "failure" ? outcome : { ...outcome, pets: outcome.pets.map((pet) => ({ ...pet, id: "" })) };
}

/** The pet that an API must store. `undefined` where the request leaves it open. */
type Expected = Omit<Pet, "id"> | "refused" | undefined;

/** The document decides by the name. Its check would round the number. */
function expectedPet({ responseCheck }: Session, api: ApiName, { pet, hasNullStatus }: NewPet): Expected {
  if (pet === undefined) return undefined;
  if (api === "rest" && hasNullStatus) return "refused";
  const faults = responseCheck.valueFaults("NewPet", { ...pet, categoryId: 0 });
  return pet.name.isWellFormed() && faults.length === 0 ? pet : "refused";
}

/** Remembers the pet of a successful create. */
function checkOutcome(session: Session, api: ApiName, outcome: Outcome, expected: Expected): void {
  if (outcome.kind === "failure") {
    if (typeof expected === "object") throw new Error(`create: ${api} refuses a valid pet: ${outcome.code}`);
    return;
  }
  const [pet] = outcome.pets;
  if (pet === undefined) throw new Error("create: a success without a pet");
  // A create with the same idempotency key shows the same pet.
  const before = session.pets.get(pet.id) ?? pet;
  if (petText(before) !== petText(pet)) throw new Error(`pet: two pets have the id ${pet.id}`);
  session.pets.set(pet.id, pet);
  if (expected === "refused") throw new Error("create: an invalid pet is accepted");
  if (expected !== undefined && petText({ id: pet.id, ...expected }) !== petText(pet)) {
    throw new Error(`create: the response shows ${petText(pet)}`);
  }
}

/** Every field of the pet, whatever their order. */
function petText(pet: Pet): string {
  return JSON.stringify(Object.entries(pet).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** One header may have several values. */
function groupByName(headers: Headers): Record<string, readonly string[]> {
  const grouped = new Map<string, string[]>();
  for (const [name, value] of headers) grouped.set(name, [...(grouped.get(name) ?? []), value]);
  return Object.fromEntries(grouped);
}
