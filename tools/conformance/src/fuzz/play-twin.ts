import type { Answer, Api, Operation, Pet } from "../apis/api.js";
import { openGraphqlApi } from "../apis/graphql-api.js";
import type { Exchange } from "../apis/http-exchange.js";
import { openRestApi } from "../apis/rest-api.js";
import { type Arena, type Exchanges, NoAnswer } from "./arena.js";
import { readExactJson } from "./exact-json.js";
import { type Twin, verdictOf } from "./twins.js";
import type { ApiOf } from "./wire.js";

/** The same through both APIs, one after the other; what differs is added to the exchanges. */
export async function playTwin(twin: Twin, arena: Arena, cursors: readonly string[]): Promise<Exchanges> {
  const exchanges = arena.begin();
  const apis = apisOf(arena, exchanges);
  try {
    if (twin.kind === "list")
      await playList(
        operationOf(twin, cursors),
        twin.byConnection ? { ...apis, graphql: apis.connection } : apis,
        arena,
        exchanges,
      );
    else await playCreate(twin, apis, arena, exchanges);
  } catch (error) {
    if (!(error instanceof NoAnswer)) {
      exchanges.add({ oracle: "verdict", reason: error instanceof Error ? error.message : `${error}` });
    }
  }
  return exchanges;
}

export interface Apis {
  readonly rest: Api;
  readonly graphql: Api;
  /** The GraphQL API again, which lists by its Relay connection. */
  readonly connection: Api;
}

/** The APIs of the parity rows, over the wire of the run. */
export function apisOf({ origins }: Pick<Arena, "origins">, { send }: Pick<Exchanges, "send">): Apis {
  const through =
    (api: ApiOf): Exchange =>
    ({ path, method, headers, body }) =>
      send({
        api,
        method,
        path,
        headers: Object.entries(headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one) => [name, `${one}`] as const),
        ),
        body: body === undefined ? undefined : Buffer.from(body),
      });
  return {
    rest: openRestApi(origins.rest, { exchange: through("rest") }),
    graphql: openGraphqlApi(origins.graphql, "pets", through("graphql")),
    connection: openGraphqlApi(origins.graphql, "petsConnection", through("graphql")),
  };
}

function operationOf({ query, learned }: Extract<Twin, { kind: "list" }>, cursors: readonly string[]): Operation {
  const cursor = learned === undefined ? undefined : cursors[learned % cursors.length];
  return { kind: "list", query: { ...query, ...(cursor !== undefined && { cursor: JSON.stringify(cursor) }) } };
}

async function playList(operation: Operation, apis: Apis, arena: Arena, exchanges: Exchanges): Promise<void> {
  const [rest, graphql] = [await ask(apis.rest, operation, arena), await ask(apis.graphql, operation, arena)];
  let differ = verdictOf(operation, rest) !== verdictOf(operation, graphql);
  // At its end the list grows meanwhile: it differs if it does although REST says the same before and after.
  for (let turn = 0; differ && turn < 3; turn += 1) {
    const [before, between, after] = [
      await ask(apis.rest, operation, arena),
      await ask(apis.graphql, operation, arena),
      await ask(apis.rest, operation, arena),
    ];
    if (verdictOf(operation, before) !== verdictOf(operation, after)) differ = false;
    else if (verdictOf(operation, before) === verdictOf(operation, between)) differ = false;
    else break;
  }
  if (differ)
    exchanges.add({ oracle: "verdict", reason: `a list: ${shortly(rest)} at REST, ${shortly(graphql)} at GraphQL` });
  const fault = listFault(operation, rest);
  if (fault !== undefined) exchanges.add({ oracle: "verdict", reason: fault });
}

/** What the document says of `limit` and `status`; of cursors it says nothing. */
function listFault(operation: Operation, { outcome }: Answer): string | undefined {
  if (operation.kind !== "list") return undefined;
  const { limit = "20", status, cursor } = operation.query;
  const isWhole = /^\d{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= 100;
  const isFit = isWhole && (status === undefined || /^"(available|pending|sold)"$/.test(status));
  if (outcome.kind === "failure") {
    return isFit && cursor === undefined ? `a list as documented is refused: ${outcome.code}` : undefined;
  }
  if (!isFit) return "a list is answered that the document does not have";
  const ids = outcome.pets.map(({ id }) => BigInt(id));
  if (ids.length > Number(limit)) return "a list is longer than its limit";
  if (ids.some((id, at) => at > 0 && id <= (ids[at - 1] ?? id))) return "a list is not in the order of ids";
  const strays = status !== undefined && outcome.pets.some((pet) => `"${pet.status}"` !== status);
  return strays ? "a list has pets of another status" : undefined;
}

async function playCreate(
  { input, key }: Extract<Twin, { kind: "create" }>,
  apis: Apis,
  arena: Arena,
  exchanges: Exchanges,
): Promise<void> {
  const keyed = (text: string, unique: string): Operation => ({
    kind: "create",
    input: text,
    ...(key !== undefined && { idempotencyKey: key.bare ? key.text : unique + key.text }),
  });
  const operation = keyed(input, arena.nonce());
  const rest = await ask(apis.rest, operation, arena);
  const graphql = await ask(apis.graphql, keyed(input, arena.nonce()), arena);
  const isOfStrings = takesDigits(input) && rest.outcome.kind === "failure" && graphql.outcome.kind === "success";
  if (!isOfStrings && verdictOf(operation, rest) !== verdictOf(operation, graphql)) {
    exchanges.add({
      oracle: "verdict",
      reason: `a new pet: ${shortly(rest)} at REST, ${shortly(graphql)} at GraphQL`,
    });
  }
  const sent = readSent(input);
  const fault = createFault(sent, rest, arena, key !== undefined);
  if (fault !== undefined) exchanges.add({ oracle: "verdict", reason: fault });
  for (const { outcome } of [rest, graphql]) {
    const [pet] = outcome.kind === "success" ? outcome.pets : [];
    if (pet !== undefined) enter(pet, sent, arena, exchanges);
  }
  if (key?.repeated !== undefined && rest.outcome.kind === "success") {
    const other = key.repeated === "same" ? input : key.repeated;
    const again = { ...operation, input: other } as Operation;
    await repeat(again, rest.outcome.pets[0], await ask(apis.graphql, again, arena), exchanges);
  }
}

/** Behind the other API the key stands for the pet it made. */
async function repeat(
  again: Operation,
  first: Pet | undefined,
  { outcome, headers }: Answer,
  exchanges: Exchanges,
): Promise<void> {
  if (again.kind !== "create" || first === undefined) return;
  const wanted = readSent(again.input);
  const isSame = wanted !== undefined && isAs(first, wanted);
  if (outcome.kind === "success") {
    const [pet] = outcome.pets;
    const isReplay = headers["idempotency-replayed"] === "true" && JSON.stringify(pet) === JSON.stringify(first);
    if (!isReplay)
      exchanges.add({ oracle: "verdict", reason: "an idempotency key made a second pet behind the other API" });
  } else if (isSame) exchanges.add({ oracle: "verdict", reason: `a repeated create is answered ${outcome.code}` });
}

/** The document's own verdict, where it has one: of an object whose names are there once. */
function createFault(
  sent: Sent | undefined,
  { outcome }: Answer,
  { openApi }: Arena,
  hasKey: boolean,
): string | undefined {
  if (sent === undefined) return undefined;
  const fault = openApi.newPetFault(sent);
  if (fault === undefined && outcome.kind === "failure" && !hasKey)
    return `a pet as documented is refused: ${outcome.code}`;
  return fault !== undefined && outcome.kind === "success" ? `a pet is accepted that ${fault}` : undefined;
}

export interface Sent {
  readonly name?: unknown;
  readonly categoryId?: unknown;
  readonly status?: unknown;
}

/** As it was sent; `undefined` where the text leaves open what that is. */
export function readSent(input: string): Sent | undefined {
  try {
    const value = readExactJson(input);
    // The parser lets a name pass that comes twice with equal values, and takes `__proto__` for the prototype.
    return typeof value === "object" &&
      value !== null &&
      JSON.stringify(Object.keys(value)) === JSON.stringify(namesOf(input))
      ? value
      : undefined;
  } catch {
    // No JSON, or too deep for this parser: the services judge it, and are compared.
    return undefined;
  }
}

/** The names of an object that holds no objects. */
function namesOf(input: string): string[] {
  return [...input.matchAll(/("(?:[^"\\]|\\.)*")\s*:/g)].map(([, name = '""']) => JSON.parse(name) as string);
}

/** Enters a pet that was accepted, and compares it with what was sent. */
export function enter(pet: Pet, sent: Sent | undefined, { ledger }: Arena, exchanges: Pick<Exchanges, "add">): void {
  const fault = ledger.enter(pet);
  if (fault !== undefined) exchanges.add(fault);
  if (sent !== undefined && !isAs(pet, sent)) exchanges.add({ oracle: "pet", reason: "a pet is not as it was sent" });
}

function isAs({ name, categoryId, status }: Pet, sent: Sent): boolean {
  return name === sent.name && categoryId === `${sent.categoryId}` && status === (sent.status ?? "available");
}

/** By design: to a browser an ID is a string of digits, so GraphQL takes one for a number (see the parity rows). */
function takesDigits(input: string): boolean {
  return /"categoryId"\s*:\s*"(0|-?[1-9]\d{0,18})"/.test(input);
}

async function ask(api: Api, operation: Operation, { key }: Arena): Promise<Answer> {
  const answer = await api.send({ operation, authorization: [`Bearer ${key}`], address: "2001:db8::1" });
  if (answer === undefined) throw new Error(`${api.name} cannot be asked`);
  return answer;
}

function shortly({ outcome }: Answer): string {
  return outcome.kind === "failure" ? outcome.code : `success (${outcome.pets.length})`;
}
