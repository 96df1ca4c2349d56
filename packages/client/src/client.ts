import { createPets, type Pets } from "./pets.js";
import { createRequestSender, type SendingOptions } from "./request-sender.js";

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
 * a TypeError if the address or the key is malformed.
 */
export function createPetStoreClient({
  baseUrl,
  apiKey,
  newIdempotencyKey = () => crypto.randomUUID(),
  ...options
}: PetStoreClientOptions): PetStoreClient {
  const url = `${new URL(baseUrl).href.replace(/\/+$/, "")}/pets`;
  // Without this check the platform's error message for an invalid header would contain the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey must be printable ASCII without blanks");
  const headers = { Accept: "application/json", Authorization: `Bearer ${apiKey}` };
  return { pets: createPets({ sendRequest: createRequestSender(options), url, headers, newIdempotencyKey }) };
}
