import {
  type Pet as ClientPet,
  createPetStoreClient,
  type Fetch,
  type NewPet,
  type PetStatus,
  type PetStoreClient,
  PetStoreError,
} from "@petstore/client";
import type { AnswerListener, Api, Operation, Outcome, Success } from "./api.js";

/**
 * The typed client. Each call uses a new client: it knows no quota and no ban yet, so it sends its request. A call that
 * its types exclude, or that it refuses itself, is not sent.
 */
export function openClientApi(origin: string, onAnswer: AnswerListener): Api {
  return {
    name: "client",
    async send({ operation, authorization, address, headers, method, body, bodyBytes }) {
      const [bearer = "", ...others] = authorization;
      const [, apiKey] = /^Bearer ([\x21-\x7e]+)$/.exec(bearer) ?? [];
      if (apiKey === undefined || others.length > 0) return undefined;
      if ([headers, method, body, bodyBytes].some((own) => own !== undefined)) return undefined;
      const attempt = attemptOf(operation);
      if (attempt === undefined) return undefined;

      let received: Headers | undefined;
      const fetchAndKeep: Fetch = async (input, init) => {
        const sent = new Headers(init?.headers);
        sent.set("x-forwarded-for", address);
        const response = await fetch(input, { ...init, headers: sent });
        received = response.headers;
        onAnswer(init?.method ?? "GET", new URL(`${input}`).pathname, {
          status: response.status,
          headers: Object.fromEntries(received),
          text: await response.clone().text(),
        });
        return response;
      };
      const client = createPetStoreClient({ baseUrl: `${origin}/v1`, apiKey, fetch: fetchAndKeep, maxRetries: 0 });
      const outcome = await outcomeOf(() => attempt(client));
      return received && outcome && { outcome, headers: Object.fromEntries(received), receivedAtMs: Date.now() };
    },
  };
}

type Attempt = (client: PetStoreClient) => Promise<Success>;

/** `undefined` if the types of the client exclude the operation. */
function attemptOf(operation: Operation): Attempt | undefined {
  switch (operation.kind) {
    case "list": {
      const { limit: text, status, cursor, ...unknown } = operation.query;
      const limit = text === undefined ? undefined : Number(text);
      // A string, or a number that JavaScript rounds.
      if (Object.keys(unknown).length > 0 || (text !== undefined && `${limit}` !== text)) return undefined;
      return async ({ pets }) => {
        const page = await pets.list({ limit, status: textOf(status) as PetStatus, cursor: textOf(cursor) });
        return successOf(page.pets, page.nextCursor);
      };
    }
    case "create": {
      const { input, idempotencyKey } = operation;
      const newPet = readNewPet(input);
      return newPet && (async ({ pets }) => successOf([await pets.create(newPet, { idempotencyKey })]));
    }
    case "get":
      return async ({ pets }) => successOf([await pets.get(operation.id)]);
  }
}

/** The pets that the types of the client allow: a string, an integer, and optionally a status. */
const newPetText =
  /^\{"name":("(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"),"categoryId":(-?(?:0|[1-9]\d*))(?:,"status":"([^"\\]*)")?\}$/u;

function readNewPet(input: string): NewPet | undefined {
  const [, name, digits, status] = newPetText.exec(input) ?? [];
  if (name === undefined || digits === undefined) return undefined;
  return { name: JSON.parse(name), categoryId: BigInt(digits), status: status as PetStatus | undefined };
}

async function outcomeOf(attempt: () => Promise<Success>): Promise<Outcome | undefined> {
  try {
    return await attempt();
  } catch (error) {
    // The client sends nothing for a number outside int64.
    if (error instanceof RangeError) return undefined;
    if (!(error instanceof PetStoreError)) throw error;
    return { kind: "failure", code: error.code, message: error.message, status: error.status ?? 0 };
  }
}

function successOf(received: readonly ClientPet[], nextCursor?: string): Success {
  const pets = received.map((pet) => ({ ...pet, id: `${pet.id}`, categoryId: `${pet.categoryId}` }));
  return { kind: "success", pets, nextCursor: nextCursor ?? null };
}

function textOf(json: string | undefined): string | undefined {
  return json === undefined ? undefined : `${JSON.parse(json)}`;
}
