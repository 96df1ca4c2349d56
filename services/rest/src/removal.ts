import { type Brownout, deprecatedAtMs, Problem, removedAtMs } from "@petstore/core";
import type { ApiDeps, Failure } from "@petstore/http";

/** RFC 9745 and RFC 8594. */
export const removalHeaders: Readonly<Record<string, string>> = {
  Deprecation: `@${deprecatedAtMs / 1_000}`,
  Sunset: new Date(removedAtMs).toUTCString(),
};

/** Returns why a request is refused now, or `undefined` while the operation works. */
type RemovalCheck = () => Failure | undefined;

/** GET /pets/{petId} is refused after its removal and, before that, in brownouts. */
export function createRemovalCheck({ config, log, now }: Pick<ApiDeps, "config" | "log" | "now">): RemovalCheck {
  const { brownouts, testClockMs } = config.deprecation;
  const clock = testClockMs === undefined ? now : clockFrom(testClockMs, now);
  if (testClockMs !== undefined) {
    const testClock = new Date(testClockMs).toISOString();
    log.warn({ testClock }, "TEST_CLOCK replaces the time for the removal of GET /pets/{petId}, and for nothing else");
  }
  const coming = brownouts.filter(({ endMs }) => clock() < endMs).map(isoInterval);
  if (coming.length > 0) log.info({ brownouts: coming }, "GET /pets/{petId} has brownouts");

  return () => {
    const nowMs = clock();
    if (nowMs >= removedAtMs) {
      const message = "GET /pets/{petId} was removed on 5 December 2030; use GET /pets.";
      return { problem: new Problem("ENDPOINT_REMOVED", message) };
    }
    const brownout = brownouts.find(({ startMs, endMs }) => startMs <= nowMs && nowMs < endMs);
    return brownout && { problem: rehearsal(brownout, nowMs), isBrownout: true };
  };
}

/** A clock that shows `startMs` now, and goes on as `now` does. */
function clockFrom(startMs: number, now: () => number): () => number {
  const aheadMs = startMs - now();
  return () => now() + aheadMs;
}

function rehearsal({ endMs }: Brownout, nowMs: number): Problem {
  const message =
    "This is a rehearsal of the removal of GET /pets/{petId} on 5 December 2030. " +
    `It works again from ${new Date(endMs).toUTCString()}; use GET /pets.`;
  return new Problem("ENDPOINT_REMOVED", message, { retryAfterSeconds: Math.ceil((endMs - nowMs) / 1_000) });
}

function isoInterval({ startMs, endMs }: Brownout): string {
  return `${new Date(startMs).toISOString()}/${new Date(endMs).toISOString()}`;
}
