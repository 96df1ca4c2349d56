import { type Clock, install } from "@sinonjs/fake-timers";

export interface VirtualTime extends Disposable {
  /** Moves the clock and runs every timer that is due. */
  pass(ms: number): Promise<void>;
}

/** Replaces the clock and the timers of this process, also those of Bottleneck, until it is disposed. */
export function startVirtualTime(epochMs: number): VirtualTime {
  const clock: Clock = install({ now: epochMs, toFake: ["setTimeout", "clearTimeout", "Date"] });
  return {
    async pass(ms) {
      await clock.tickAsync(ms);
    },
    [Symbol.dispose]: () => clock.uninstall(),
  };
}
