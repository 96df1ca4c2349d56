import type { Call } from "./caller.js";
import type { Answer, PetRequest } from "./exchange.js";
import { type Int64, toInt64 } from "./int64.js";
import { nextCursor } from "./next-cursor.js";
import { type NewPet, type Pet, type PetStatus, readPet, readPets, writeNewPet } from "./pet.js";
import { PetStoreError } from "./pet-store-error.js";

export interface CallOptions {
  /** Ends the call wherever it is: waiting for its turn, under way, or waiting to be repeated. It rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ListAllOptions extends CallOptions {
  /** Animals on a page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Only animals with this status. */
  readonly status?: PetStatus | undefined;
}

export interface ListOptions extends ListAllOptions {
  /** Where the page begins: the `nextCursor` of the page before, listed with the same status. */
  readonly cursor?: string | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * Names this create, so that repeating it makes no second animal (for 24 hours). By default every call has a new one;
   * give your own where you want to repeat a call whose outcome you did not learn.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface PetPage {
  /** In ascending order of their identifiers. */
  readonly pets: readonly Pet[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** The service's animals. Every call waits for its turn, and rejects with a PetStoreError. */
export interface Pets {
  /** One page of the list. Without a `limit` the service chooses 20. */
  list(options?: ListOptions): Promise<PetPage>;
  /** Every page from the first on, each fetched when it is asked for; 100 animals a page unless `limit` says less. */
  pages(options?: ListAllOptions): AsyncGenerator<PetPage, void, void>;
  /** Every animal, page by page. */
  all(options?: ListAllOptions): AsyncGenerator<Pet, void, void>;
  /** Adds an animal, once, however often the request has to be repeated. */
  create(newPet: NewPet, options?: CreateOptions): Promise<Pet>;
  /**
   * Fetches one animal.
   * @deprecated The endpoint is removed on 5 December 2030. Use `list` or `all`, with the status filter.
   */
  get(id: Int64, options?: CallOptions): Promise<Pet>;
}

export interface PetsDeps {
  readonly call: Call;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly newIdempotencyKey: () => string;
}

export function createPets({ call, baseUrl, apiKey, newIdempotencyKey }: PetsDeps): Pets {
  const url = `${baseUrl}/pets`;
  const headers = { Accept: "application/json", Authorization: `Bearer ${apiKey}` };
  const get = (address: string): PetRequest => ({ method: "GET", url: address, headers });

  async function list({ limit, status, cursor, signal }: ListOptions = {}): Promise<PetPage> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ limit, status, cursor })) {
      if (value !== undefined) query.set(name, `${value}`);
    }
    const asked = `${query}`;
    const answer = await call(get(asked === "" ? url : `${url}?${asked}`), signal);
    return read(answer, () => {
      const next = nextCursor(answer.headers.get("link"));
      return { pets: readPets(answer.text), ...(next !== undefined && { nextCursor: next }) };
    });
  }

  async function* pages({ limit = 100, ...options }: ListAllOptions = {}): AsyncGenerator<PetPage, void, void> {
    let cursor: string | undefined;
    do {
      const page = await list({ ...options, limit, cursor });
      yield page;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  return {
    list,
    pages,
    async *all(options) {
      for await (const { pets } of pages(options)) yield* pets;
    },
    async create(newPet, { idempotencyKey = newIdempotencyKey(), signal } = {}) {
      const body = writeNewPet(newPet);
      const own = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
      const answer = await call({ method: "POST", url, headers: { ...headers, ...own }, body }, signal);
      return read(answer, () => readPet(answer.text));
    },
    async get(id, { signal } = {}) {
      const answer = await call(get(`${url}/${toInt64(id, "id")}`), signal);
      return read(answer, () => readPet(answer.text));
    },
  };
}

function read<T>({ status, headers }: Answer, reader: () => T): T {
  try {
    return reader();
  } catch (cause) {
    const requestId = headers.get("x-request-id") ?? undefined;
    throw new PetStoreError("UNEXPECTED_RESPONSE", `The answer ${status} is not what the pet store promises.`, {
      status,
      requestId,
      cause,
    });
  }
}
