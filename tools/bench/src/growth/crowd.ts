import { openChild } from "../child.js";
import type { WorkRequest } from "../words.js";

export type CrowdQuestion =
  | { readonly kind: "open"; readonly origin: string; readonly count: number; readonly request: WorkRequest }
  | { readonly kind: "count" }
  | { readonly kind: "close" };

export interface CrowdState {
  /** Connections that are open now. */
  readonly open: number;
  /** Those that were not answered 200, or broke. */
  readonly failures: number;
  readonly firstFailure?: string;
}

/** Connections that ask once and then are silent, held by a process of its own. */
export interface Crowd extends AsyncDisposable {
  /** Resolves when each has had its one answer. A connection that never asked is cut by the services, as it should be. */
  open(origin: string, count: number, request: WorkRequest): Promise<CrowdState>;
  count(): Promise<CrowdState>;
  close(): Promise<CrowdState>;
}

export function openCrowd(signal: AbortSignal): Crowd {
  const child = openChild("the crowd", new URL("./crowd/main.js", import.meta.url), { signal });
  const ask = async (question: CrowdQuestion) => (await child.ask(question)) as CrowdState;
  return {
    open: (origin, count, request) => ask({ kind: "open", origin, count, request }),
    count: () => ask({ kind: "count" }),
    close: () => ask({ kind: "close" }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
