import { openChild } from "../child.js";
import type { WorkRequest } from "../words.js";

/** One of the requests that traffic is mixed of. */
export interface Step {
  readonly name: string;
  /** `{number}` in its body is one more every time. */
  readonly request: WorkRequest;
  /** With a key that nobody has, another one every time. */
  readonly unknownKey?: boolean;
  /** Whether the service remembers each of them for a while, up to a limit. */
  readonly isRemembered?: boolean;
  /** Any other is unexpected. */
  readonly statuses: readonly number[];
}

export interface TrafficOrder {
  readonly origin: string;
  readonly connections: number;
  readonly seconds: number;
  /** Ends it before the time is over. */
  readonly requests?: number;
  readonly firstNumber: number;
  readonly steps: readonly Step[];
}

export interface TrafficReport {
  readonly requests: number;
  /** How often a step was answered otherwise than expected, or not at all, by step and answer. */
  readonly unexpected: Readonly<Record<string, number>>;
}

/** Makes traffic from a process of its own. */
export interface TrafficGenerator extends AsyncDisposable {
  run(order: TrafficOrder): Promise<TrafficReport>;
}

export function openTrafficGenerator(signal: AbortSignal): TrafficGenerator {
  const child = openChild("the traffic generator", new URL("./traffic/main.js", import.meta.url), { signal });
  return {
    run: async (order) => (await child.ask(order)) as TrafficReport,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
