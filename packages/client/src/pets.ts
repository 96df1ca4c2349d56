import { type Int64, toInt64 } from "./int64.js";
import { type NewPet, type Pet, type PetStatus, readPet, readPets, writeNewPet } from "./pet.js";
import { PetStoreError } from "./pet-store-error.js";
import type { PetStoreRequest, PetStoreResponse } from "./request.js";
import type { SendRequest } from "./request-sender.js";
import { readNextCursor } from "./response-headers.js";

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
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly newIdempotencyKey: () => string;
}

export function createPets({ sendRequest, baseUrl, apiKey, newIdempotencyKey }: PetsDeps): Pets {
  const url = `${baseUrl}/pets`;
  const headers = { Accept: "application/json", Authorization: `Bearer ${apiKey}` };
  const getRequest = (address: string): PetStoreRequest => ({ method: "GET", url: address, headers });

  async function list({ limit, status, cursor, signal }: ListOptions = {}): Promise<PetPage> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ limit, status, cursor })) {
      if (value !== undefined) query.set(name, `${value}`);
    }
    const search = query.toString();
    const response = await sendRequest(getRequest(search === "" ? url : `${url}?${search}`), signal);
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
      const createHeaders = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
      const request: PetStoreRequest = { method: "POST", url, headers: { ...headers, ...createHeaders }, body };
      const response = await sendRequest(request, signal);
      return parseResponse(response, () => readPet(response.text));
    },
    async get(id, { signal } = {}) {
      const response = await sendRequest(getRequest(`${url}/${toInt64(id, "id")}`), signal);
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
    throw new PetStoreError(
      "UNEXPECTED_RESPONSE",
      `The response with status ${status} does not have the expected form.`,
      {
        status,
        requestId,
        cause,
      },
    );
  }
}
