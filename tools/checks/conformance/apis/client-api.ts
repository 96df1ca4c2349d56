import {
  type Pet as ClientPet,
  createPetStoreClient,
  type Fetch,
  type NewPet,
  type PetStatus,
  type PetStoreClient,
  PetStoreError,
} from "@petstore/client";
import type { Api, Operation, Outcome, Reply, Send, Success } from "./api.js";

/**
 * The typed client. Each call uses a new client: it knows no quota and no ban yet, so it sends its request. A call that
 * its types exclude, or that it refuses itself, is not sent.
 */
export function createClientApi(send: Send): Api {
  return {
    name: "client",
    async send({ operation, authorization, address, headers, method, body, bodyBytes }) {
      const [bearer = "", ...others] = authorization;
      const [, apiKey] = /^Bearer ([\x21-\x7e]+)$/.exec(bearer) ?? [];
      if (apiKey === undefined || others.length > 0) return undefined;
      if ([headers, method, body, bodyBytes].some((own) => own !== undefined)) return undefined;

      let received: Reply["headers"] | undefined;
      const announced: string[] = [];
      const fetchAndKeep: Fetch = async (input, init) => {
        const { pathname, search } = new URL(`${input}`);
        const answer = await send(init?.method ?? "GET", pathname + search, {
          headers: { ...Object.fromEntries(new Headers(init?.headers)), "x-forwarded-for": address },
          ...(typeof init?.body === "string" && { body: init.body }),
        });
        received = answer.headers;
        return new Response(answer.text, answer);
      };
      const options = {
        baseUrl: "http://client.invalid/v1",
        apiKey,
        fetch: fetchAndKeep,
        maxRetries: 0,
        onKeyExpiry: (expiresAt: Date) => void announced.push(expiresAt.toUTCString()),
      };
      const outcome = await outcomeOf(createPetStoreClient(options), operation);
      const sent = received?.["api-key-expires"] ?? "";
      if (announced.join() !== sent) throw new Error(`the client announced ${announced} for the header ${sent}`);
      return received && outcome && { outcome, headers: received };
    },
  };
}

async function outcomeOf(client: PetStoreClient, operation: Operation): Promise<Outcome | undefined> {
  try {
    return await run(client, operation);
  } catch (error) {
    // The client sends nothing for a number outside int64.
    if (error instanceof RangeError) return undefined;
    // Without a status there was no response, or it had a fault.
    if (!(error instanceof PetStoreError) || error.status === undefined) throw error;
    return { kind: "failure", code: error.code, message: error.message, status: error.status };
  }
}

/** `undefined` if the types of the client exclude the operation. */
async function run({ pets }: PetStoreClient, operation: Operation): Promise<Success | undefined> {
  switch (operation.kind) {
    case "list": {
      const { limit: text, status, cursor, ...unknown } = operation.query;
      const limit = text === undefined ? undefined : Number(text);
      // A string, or a number that JavaScript rounds.
      if (Object.keys(unknown).length > 0 || (text !== undefined && `${limit}` !== text)) return undefined;
      const page = await pets.list({ limit, status: textOf(status) as PetStatus, cursor: textOf(cursor) });
      return successOf(page.pets, page.nextCursor);
    }
    case "create": {
      const { input, idempotencyKey } = operation;
      const newPet = readNewPet(input);
      return newPet && successOf([await pets.create(newPet, { idempotencyKey })]);
    }
    case "get":
      return successOf([await pets.get(operation.id)]);
  }
}

/** The pets that the types of the client allow: a string, an integer, and optionally a status. */
const newPetText =
  /^\{"name":("(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"),"categoryId":(-?(?:0|[1-9]\d*))(?:,"status":"([^"\\]*)")?\}$/u;

/** The object literal does not compile until it names every field. */
function readNewPet(input: string): { readonly [Field in keyof Required<NewPet>]: NewPet[Field] } | undefined {
  const [, name, digits, status] = newPetText.exec(input) ?? [];
  if (name === undefined || digits === undefined) return undefined;
  return { name: JSON.parse(name), categoryId: BigInt(digits), status: status as PetStatus | undefined };
}

function successOf(received: readonly ClientPet[], nextCursor?: string): Success {
  const pets = received.map((pet) => ({ ...pet, id: `${pet.id}`, categoryId: `${pet.categoryId}` }));
  return { kind: "success", pets, nextCursor: nextCursor ?? null };
}

function textOf(json: string | undefined): string | undefined {
  return json === undefined ? undefined : `${JSON.parse(json)}`;
}
