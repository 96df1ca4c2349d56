import { createPetStoreClient, type PetStoreClientOptions } from "@petstore/client";
import { afterEach, beforeEach, vi } from "vitest";

interface Received {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** Virtual milliseconds since the start of the test. */
  readonly atMs: number;
  readonly signal: AbortSignal;
}

export type Script = (request: Received, index: number) => Response | Promise<Response>;

export const startMs: number = Date.UTC(2027, 4, 3, 12);

/** In the tests of this file, time passes only in `vi.advanceTimersByTimeAsync`. */
export function useVirtualTime(): void {
  beforeEach(() => vi.useFakeTimers({ now: startMs, toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
  afterEach(() => vi.useRealTimers());
}

/**
 * Creates a client whose `fetch` returns the responses of the script, and keeps the requests in order. Without `random` in
 * the options there is no jitter.
 */
export function createScriptedService(script: Script, options: Partial<PetStoreClientOptions> = {}) {
  const received: Received[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request: Received = {
      url: String(input),
      headers: new Headers(init?.headers),
      body: init?.body === undefined ? undefined : String(init.body),
      atMs: Date.now() - startMs,
      signal: init?.signal as AbortSignal,
    };
    received.push(request);
    return script(request, received.length - 1);
  };
  const client = createPetStoreClient({
    baseUrl: "https://petstore.example/v1",
    apiKey: "pets_test_key",
    fetch,
    random: () => 0,
    ...options,
  });
  return { client, received };
}

interface ResponseOptions {
  readonly remaining?: number;
  /** Virtual milliseconds since the start of the test. */
  readonly resetAtMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response with the X-RateLimit headers and the current Date. */
export function respond(status: number, body: string, options: ResponseOptions = {}): Response {
  const { remaining = 59, resetAtMs = 60_000, headers = {} } = options;
  return new Response(body, {
    status,
    headers: {
      Date: new Date(Date.now()).toUTCString(),
      "X-RateLimit-Limit": "60",
      "X-RateLimit-Remaining": `${remaining}`,
      "X-RateLimit-Reset": `${Math.ceil((startMs + resetAtMs) / 1000)}`,
      "X-Request-Id": "request-1",
      ...headers,
    },
  });
}

export function problem(status: number, code: string, options: ResponseOptions = {}): Response {
  return respond(status, JSON.stringify({ code, message: `The message of ${code}.`, status }), options);
}

export const rexJson = '{"id":9223372036854775807,"name":"Rex","categoryId":9007199254740993,"status":"available"}';

export function after<T>(ms: number, value: () => T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value()), ms));
}

/** Advances the time, and returns the result of each call: its error, or "succeeded". */
export async function resultsAfter(ms: number, ...calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = calls.map((call) =>
    call.then(
      () => "succeeded",
      (error: unknown) => error,
    ),
  );
  await vi.advanceTimersByTimeAsync(ms);
  return Promise.all(results);
}
