import { readPet, readPets, toInt64, writeNewPet } from "./pet.js";
import { PetStoreError } from "./pet-store-error.js";
import type { ListAllOptions, ListOptions, PetPage, Pets } from "./pets.js";
import { createRequestSender, type SendingOptions } from "./request-sender.js";
import { type PetStoreResponse, readNextCursor } from "./response-headers.js";

export interface PetStoreClientOptions extends SendingOptions {
  /** The base address of the service, with its version: `https://petstore.example/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /**
   * Returns a new key of 1 to 255 printable ASCII characters for each create. Defaults to `crypto.randomUUID`, which
   * browsers offer only on https and localhost.
   */
  readonly newIdempotencyKey?: () => string;
}

export interface PetStoreClient {
  readonly pets: Pets;
}

/**
 * Creates a client for one API key. Share one client per key: it tracks the remaining quota of the key's account. Throws
 * a TypeError if the address or the key is malformed, and a RangeError if `maxConcurrent` is below 1.
 */
export function createPetStoreClient({
  baseUrl,
  apiKey,
  newIdempotencyKey = () => crypto.randomUUID(),
  ...options
}: PetStoreClientOptions): PetStoreClient {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl).href : "";
  // `localhost:3000/v1` is an address with the scheme `localhost`. Without this check each call would fail.
  if (!/^https?:\/\/[^/?#@]+\/[^?#]*$/.test(base)) {
    throw new TypeError("baseUrl must be an http or https address without credentials, query and fragment");
  }
  const url = `${base.replace(/\/+$/, "")}/pets`;
  // Without this check the platform's error message for an invalid header would contain the key.
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError("apiKey must be printable ASCII without blanks");
  const headers = { Accept: "application/json", Authorization: `Bearer ${apiKey}` };
  const sendRequest = createRequestSender(options);

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
      // Otherwise a loop over all pages would not end.
      if (nextCursor !== undefined && nextCursor === cursor) throw new Error("the next page is this page");
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
    pets: {
      list,
      pages,
      async *all(options) {
        for await (const { pets } of pages(options)) yield* pets;
      },
      async create(newPet, { idempotencyKey = newIdempotencyKey(), signal } = {}) {
        const body = writeNewPet(newPet);
        const fields = { ...headers, "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
        // Throws here for an invalid idempotency key. An error of `fetch` would count as a network error.
        const createHeaders = Object.fromEntries(new Headers(fields));
        const response = await sendRequest({ method: "POST", url, headers: createHeaders, body }, signal);
        return parseResponse(response, () => readPet(response.text));
      },
      async get(id, { signal } = {}) {
        const response = await get(`${url}/${toInt64(id, "id")}`, signal);
        return parseResponse(response, () => readPet(response.text));
      },
    },
  };
}

function parseResponse<T>({ status, headers }: PetStoreResponse, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    const requestId = headers.get("x-request-id") ?? undefined;
    const message = `The response with status ${status} does not have the expected form.`;
    throw new PetStoreError("UNEXPECTED_RESPONSE", message, { status, requestId, cause });
  }
}
