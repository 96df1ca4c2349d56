/** A signal of one call's own, aborted with the caller's. To be released when the call has ended. */
export interface FollowingSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/** One listener on a caller's signal, however many calls share it: from the eleventh on Node warns of a leak. */
export function createAbortRelay(): (signal: AbortSignal | undefined) => FollowingSignal {
  const followers = new WeakMap<AbortSignal, Set<AbortController>>();

  function follow(signal: AbortSignal): Set<AbortController> {
    const group = new Set<AbortController>();
    followers.set(signal, group);
    signal.addEventListener("abort", () => group.forEach((own) => void own.abort(signal.reason)), { once: true });
    return group;
  }

  return (signal) => {
    const own = new AbortController();
    if (signal === undefined) return { signal: own.signal, release() {} };
    if (signal.aborted) own.abort(signal.reason);
    const group = followers.get(signal) ?? follow(signal);
    group.add(own);
    return { signal: own.signal, release: () => void group.delete(own) };
  };
}
