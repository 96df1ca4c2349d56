import { type Int64, type NewPet, type Pet, type PetStatus, readPet, readPets, toInt64, writeNewPet } from "./pet.js";
import { PetStoreError } from "./pet-store-error.js";
import type { SendRequest } from "./request-sender.js";
import { type PetStoreResponse, readNextCursor } from "./response-headers.js";

export interface CallOptions {
  /** Aborts the call, whether it is queued, in flight, or waiting for a retry. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ListAllOptions extends CallOptions {
  /** Pets per page, 1 to 100. */
  readonly limit?: number | undefined;
  /** Return only pets with this status. */
  readonly status?: PetStatus | undefined;
}

export interface ListOptions extends ListAllOptions {
  /** The `nextCursor` of the previous page. Use it with the same `status`. */
  readonly cursor?: string | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * A repeated create with the same key adds no second pet, for 24 hours. By default each call gets a new key. Pass your
   * own key if you may have to repeat a call whose result you do not know.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface PetPage {
  /** In ascending order of `id`. */
  readonly pets: readonly Pet[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** The pets of the service. Calls wait in a queue when the quota is low. They reject with a PetStoreError. */
export interface Pets {
  /** Fetches one page. Without `limit` it holds up to 20 pets. */
  list(options?: ListOptions): Promise<PetPage>;
  /**
   * Iterates over all pages, and fetches a page only when the loop reaches it. `limit` defaults to 100. Pets that are
   * created during the iteration may be missing.
   */
  pages(options?: ListAllOptions): AsyncGenerator<PetPage, void, void>;
  /** Iterates over all pets, page by page. Pets that are created during the iteration may be missing. */
  all(options?: ListAllOptions): AsyncGenerator<Pet, void, void>;
  /** Adds a pet. Retries of the request add no second one. */
  create(newPet: NewPet, options?: CreateOptions): Promise<Pet>;
  /**
   * Fetches one pet.
   * @deprecated The endpoint will be removed on 5 December 2030. Use `list` or `all` with the status filter.
   */
  get(id: Int64, options?: CallOptions): Promise<Pet>;
}

export interface PetsDeps {
  readonly sendRequest: SendRequest;
  /** The address of the pets, without a trailing slash. */
  readonly url: string;
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly newIdempotencyKey: () => string;
}

export function createPets({ sendRequest, url, headers, newIdempotencyKey }: PetsDeps): Pets {
  const get = (address: string, signal: AbortSignal | undefined): Promise<PetStoreResponse> =>
    sendRequest({ method: "GET", url: address, headers }, signal);

  async function list({ limit, status, cursor, signal }: ListOptions = {}): Promise<PetPage> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ limit, status, cursor })) {
      if (value !== undefined) query.set(name, `${value}`);
    }
    const response = await get(query.size === 0 ? url : `${url}?${query}`, signal);
    return parseResponse(response, () => {
      const nextCursor = readNextCursor(response.headers);
      return { pets: readPets(response.text), ...(nextCursor !== undefined && { nextCursor }) };
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
      const createHeaders = { ...headers, "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
      const response = await sendRequest({ method: "POST", url, headers: createHeaders, body }, signal);
      return parseResponse(response, () => readPet(response.text));
    },
    async get(id, { signal } = {}) {
      const response = await get(`${url}/${toInt64(id, "id")}`, signal);
      return parseResponse(response, () => readPet(response.text));
    },
  };
}

/** Turns any error of `parse` into UNEXPECTED_RESPONSE. */
function parseResponse<T>({ status, headers }: PetStoreResponse, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    const requestId = headers.get("x-request-id") ?? undefined;
    const message = `The response with status ${status} does not have the expected form.`;
    throw new PetStoreError("UNEXPECTED_RESPONSE", message, { status, requestId, cause });
  }
}
