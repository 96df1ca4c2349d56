import type { Api, Call } from "./api.js";
import type { Answer } from "./ask.js";
import { openPipeline } from "./pipeline.js";
import { authorization, requestOf } from "./wire-requests.js";

export interface BurstOptions {
  /** Called in turn. */
  readonly on: readonly { readonly origin: string; readonly api: Api }[];
  readonly requests: number;
  /** Each with a connection of its own. */
  readonly callers: number;
  /** How many requests of a caller are under way at once; one unless it is said. */
  readonly ahead?: number;
  readonly apiKey: (request: number) => string;
  readonly call: (api: Api, request: number) => Call;
}

/** Sends so many requests as fast as they are answered; resolves with the answers when it has the last. */
export async function burst({ on, requests, callers, ahead = 1, apiKey, call }: BurstOptions): Promise<Answer[]> {
  const answers: Answer[] = [];
  let sent = 0;

  function nextRequests(api: Api): string[] {
    const first = sent;
    sent = Math.min(sent + ahead, requests);
    return Array.from({ length: sent - first }, (_, index) => {
      const request = first + index;
      return requestOf(call(api, request), authorization(apiKey(request)));
    });
  }

  async function callOn(caller: number): Promise<void> {
    const target = on[caller % on.length];
    if (target === undefined) return;
    using pipeline = openPipeline(target.origin);
    while (sent < requests) answers.push(...(await pipeline.ask(nextRequests(target.api))));
  }

  await Promise.all(Array.from({ length: callers }, (_, caller) => callOn(caller)));
  return answers;
}
