import { Pool } from "undici";
import { type Answer, ask } from "./ask.js";
import type { Call, Door } from "./door.js";

export interface BurstOptions {
  /** Called in turn. */
  readonly on: readonly { readonly origin: string; readonly door: Door }[];
  readonly requests: number;
  /** How many are under way at once. */
  readonly callers: number;
  readonly apiKey: (request: number) => string;
  readonly call: (door: Door, request: number) => Call;
}

/** Sends so many requests as fast as they are answered; resolves with the answers when it has the last. */
export async function burst({ on, requests, callers, apiKey, call }: BurstOptions): Promise<Answer[]> {
  const share = Math.ceil(callers / on.length);
  const targets = on.map(({ origin, door }) => ({ door, pool: new Pool(origin, { connections: share }) }));
  const answers: Answer[] = [];
  let sent = 0;

  async function callOn(caller: number): Promise<void> {
    const target = targets[caller % targets.length];
    if (target === undefined) return;
    while (sent < requests) {
      const request = sent;
      sent += 1;
      answers.push(await ask(target.pool, call(target.door, request), apiKey(request)));
    }
  }

  await Promise.all(Array.from({ length: callers }, (_, caller) => callOn(caller)));
  await Promise.all(targets.map(({ pool }) => pool.close()));
  return answers;
}
