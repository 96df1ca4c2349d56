import type { Int64, NewPet, Pet, PetStatus } from "./pet.js";

export interface CallOptions {
  /** Aborts the call, whether it is queued, in flight, or waiting for a retry. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ListAllOptions extends CallOptions {
  /** Pets per page, 1 to 100. Defaults to 100, and in `list` to 20. */
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
   * A create with the same key adds no second pet within 24 hours. By default each call gets a new key. Pass your own key
   * if you may have to repeat a call whose result you do not know.
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
  /** Fetches one page. */
  list(options?: ListOptions): Promise<PetPage>;
  /**
   * Fetches a page only when the loop reaches it. Returns every pet that was stored before the iteration began exactly once,
   * even if pets are created meanwhile.
   */
  pages(options?: ListAllOptions): AsyncGenerator<PetPage, void, void>;
  /** Iterates over the pets of `pages`. */
  all(options?: ListAllOptions): AsyncGenerator<Pet, void, void>;
  /** Adds a pet. Retries add no second pet. */
  create(newPet: NewPet, options?: CreateOptions): Promise<Pet>;
  /**
   * Fetches one pet. In a brownout, which rehearses the removal, rejects at once with ENDPOINT_REMOVED and `retryAt`.
   * @deprecated The endpoint will be removed on 5 December 2030. Use `list` or `all` with the status filter.
   */
  get(id: Int64, options?: CallOptions): Promise<Pet>;
}
