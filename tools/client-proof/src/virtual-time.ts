import { type Clock, install } from "@sinonjs/fake-timers";

export interface VirtualTime extends Disposable {
  /** Lets so much time pass, and everything happen that falls into it. */
  pass(ms: number): Promise<void>;
}

/** Replaces this process's clock and timers, Bottleneck's among them, until it is disposed of. */
export function startVirtualTime(epochMs: number): VirtualTime {
  const clock: Clock = install({ now: epochMs, toFake: ["setTimeout", "clearTimeout", "Date"] });
  return {
    async pass(ms) {
      await clock.tickAsync(ms);
    },
    [Symbol.dispose]: () => clock.uninstall(),
  };
}
