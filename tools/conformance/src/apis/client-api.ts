import {
  type Pet as ClientPet,
  createPetStoreClient,
  type Fetch,
  type NewPet,
  type PetStatus,
  PetStoreError,
} from "@petstore/client";
import type { DescribedAnswers } from "../described-answers.js";
import type { Answer, Api, Call, Operation, Pet, Success } from "./api.js";

/**
 * The REST API as the typed client shows it. Every call is a new client's first: it knows nothing yet of quotas and
 * bans, so it asks, and shows what it is answered. What its types have no words for it is not asked; and what it
 * refuses before sending it has no answer to compare.
 */
export function openClientApi(origin: string, described: Pick<DescribedAnswers, "hear">): Api {
  return {
    name: "client",
    async send({ operation, authorization, address, headers, method, body }: Call) {
      const [bearer = "", ...others] = authorization;
      const [, apiKey] = /^Bearer ([\x21-\x7e]+)$/.exec(bearer) ?? [];
      if (apiKey === undefined || others.length > 0) return undefined;
      if (headers !== undefined || method !== undefined || body !== undefined) return undefined;
      const ask = wordsFor(operation);
      if (ask === undefined) return undefined;

      let received: Headers | undefined;
      const fetchAndKeep: Fetch = async (input, init) => {
        const sent = new Headers(init?.headers);
        sent.set("x-forwarded-for", address);
        const response = await fetch(input, { ...init, headers: sent });
        received = response.headers;
        const { pathname } = new URL(`${input}`);
        described.hear(
          origin,
          { method: init?.method ?? "GET", path: pathname },
          { status: response.status, headers: Object.fromEntries(received), text: await response.clone().text() },
        );
        return response;
      };
      const client = createPetStoreClient({ baseUrl: `${origin}/v1`, apiKey, fetch: fetchAndKeep, maxRetries: 0 });
      const outcome = await outcomeOf(() => ask(client));
      return received && outcome && { outcome, headers: Object.fromEntries(received), receivedAtMs: Date.now() };
    },
  };
}

type Client = ReturnType<typeof createPetStoreClient>;

function wordsFor(operation: Operation): ((client: Client) => Promise<Success>) | undefined {
  return operation.kind === "list" ? listing(operation.query) : creating(operation.input, operation.idempotencyKey);
}

function listing({ limit, status, cursor, ...unknown }: Readonly<Record<string, string>>) {
  const number = limit === undefined ? undefined : Number(limit);
  // A text, or a number that JavaScript rounds.
  if (Object.keys(unknown).length > 0 || (limit !== undefined && `${number}` !== limit)) return undefined;
  return async ({ pets }: Client): Promise<Success> => {
    const page = await pets.list({ limit: number, status: textOf(status) as PetStatus, cursor: textOf(cursor) });
    return { kind: "success", pets: page.pets.map(toPet), nextCursor: page.nextCursor ?? null };
  };
}

function creating(input: string, idempotencyKey: string | undefined) {
  const newPet = readNewPet(input);
  return (
    newPet &&
    (async ({ pets }: Client): Promise<Success> => {
      const pet = await pets.create(newPet, { idempotencyKey });
      return { kind: "success", pets: [toPet(pet)], nextCursor: null };
    })
  );
}

/** The pet as the client's types have it; `undefined` where they do not let it be said. */
function readNewPet(input: string): NewPet | undefined {
  const [, digits] = /"categoryId":(-?\d+)[,}]/.exec(input) ?? [];
  const parsed: unknown = JSON.parse(input);
  if (digits === undefined || typeof parsed !== "object" || parsed === null) return undefined;
  const { name, categoryId: _rounded, status, ...unknown } = parsed as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || Object.keys(unknown).length > 0) return undefined;
  if (status !== undefined && typeof status !== "string") return undefined;
  return { name, categoryId: BigInt(digits), status: status as PetStatus | undefined };
}

async function outcomeOf(attempt: () => Promise<Success>): Promise<Answer["outcome"] | undefined> {
  try {
    return await attempt();
  } catch (error) {
    // Not an int64: never sent.
    if (error instanceof RangeError) return undefined;
    if (!(error instanceof PetStoreError)) throw error;
    return { kind: "failure", code: error.code, message: error.message, status: error.status ?? 0 };
  }
}

function toPet({ id, name, categoryId, status }: ClientPet): Pet {
  return { id: `${id}`, name, categoryId: `${categoryId}`, status };
}

function textOf(json: string | undefined): string | undefined {
  return json === undefined ? undefined : `${JSON.parse(json)}`;
}
