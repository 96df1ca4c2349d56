import { createPetStoreClient, type PetStoreClient, type PetStoreClientOptions } from "@petstore/client";
import { vi } from "vitest";

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** Virtual milliseconds since the test began. */
  readonly atMs: number;
  readonly signal: AbortSignal;
}

export interface ScriptedService {
  readonly client: PetStoreClient;
  /** Everything that was sent, in its order. */
  readonly received: readonly Received[];
}

export type Script = (request: Received, index: number) => Response | Promise<Response>;

export const startMs: number = Date.UTC(2027, 4, 3, 12);

/** To be called before each test: no timer fires, and no time passes, but by `vi.advanceTimersByTimeAsync`. */
export function useVirtualTime(): void {
  vi.useFakeTimers({ now: startMs, toFake: ["setTimeout", "clearTimeout", "Date"] });
}

/** A client in front of a `fetch` that answers by the script. Without jitter, unless the options bring their own. */
export function createScriptedService(script: Script, options: Partial<PetStoreClientOptions> = {}): ScriptedService {
  const received: Received[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request: Received = {
      method: init?.method ?? "GET",
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

export interface AnswerOptions {
  readonly limit?: number;
  readonly remaining?: number;
  /** Milliseconds after the test's start. */
  readonly resetAtMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer with the contract's triple, as of now. */
export function answer(status: number, body: unknown, options: AnswerOptions = {}): Response {
  const { limit = 60, remaining = 59, resetAtMs = 60_000, headers = {} } = options;
  return new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: {
      Date: new Date(Date.now()).toUTCString(),
      "X-RateLimit-Limit": `${limit}`,
      "X-RateLimit-Remaining": `${remaining}`,
      "X-RateLimit-Reset": `${Math.ceil((startMs + resetAtMs) / 1000)}`,
      "X-Request-Id": "request-1",
      ...headers,
    },
  });
}

export function problem(status: number, code: string, options: AnswerOptions = {}): Response {
  return answer(status, { code, message: `The message of ${code}.`, status }, options);
}

export const rexJson = '{"id":9223372036854775807,"name":"Rex","categoryId":9007199254740993,"status":"available"}';

export function after<T>(ms: number, value: () => T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value()), ms));
}
