import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, openConnection } from "./connection.js";
import { createPet, type Load, type Target } from "./load.js";
import { isAcknowledged, type Result } from "./results.js";

export interface CreatesOptions {
  readonly apiKey: string;
  readonly clients: number;
  /** The target of the next request; `undefined` while no service runs. */
  target(): Target | undefined;
}

const retryPauseMs = 20;
const timeoutMs = 60_000;

/** Creates without a pause. Each one is repeated with its idempotency key until it succeeds. */
export function startCreates({ apiKey, clients, target }: CreatesOptions): Load {
  const results: Result[] = [];
  let deadlineMs = Number.POSITIVE_INFINITY;

  async function createOne(connections: Map<string, Connection>): Promise<void> {
    const name = randomUUID();
    while (performance.now() < deadlineMs) {
      const current = target();
      if (current !== undefined) {
        const connection = connections.get(current.origin) ?? openConnection(current.origin);
        connections.set(current.origin, connection);
        const result = await createPet(connection, current.api, apiKey, name);
        results.push(result);
        if (isAcknowledged(result)) return;
      }
      await sleep(retryPauseMs);
    }
    throw new Error(`a create did not succeed in ${timeoutMs / 1_000} s after the end of the load`);
  }

  async function runClient(): Promise<void> {
    const connections = new Map<string, Connection>();
    while (deadlineMs === Number.POSITIVE_INFINITY) await createOne(connections);
    for (const connection of connections.values()) connection[Symbol.dispose]();
  }

  const done = Promise.all(Array.from({ length: clients }, runClient)).then(() => {});
  return {
    results,
    done,
    stop() {
      deadlineMs = performance.now() + timeoutMs;
      return done;
    },
  };
}
