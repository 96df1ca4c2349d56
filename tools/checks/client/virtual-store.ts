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

/** The service as a `fetch`, in the time of this process: the real quota engine, one account, one key, a network. */
export interface VirtualStore {
  readonly fetch: Fetch;
  /** The number of stored pets by name. */
  readonly stored: ReadonlyMap<string, number>;
  /** Cuts every connection and forgets every counter; stored pets stay. */
  kill(): void;
  restart(): void;
}

/** The time that a request and its response travel together. */
const latencyMs = { least: 20, most: 80 };

export function createVirtualStore(limits: Limits, random: () => number): VirtualStore {
  const stored = new Map<string, number>();
  const created = new Map<string, string>();
  let quota = createLocalQuota({ now: Date.now });
  /** The number of starts of the service; negative while it is down. */
  let life = 1;

  const travel = (): Promise<void> => {
    const ms = (latencyMs.least + random() * (latencyMs.most - latencyMs.least)) / 2;
    return new Promise((resolve) => setTimeout(resolve, ms));
  };

  function serve(init: RequestInit | undefined): { readonly status: number; readonly body: string } {
    if (init?.method !== "POST") return { status: 200, body: "[]" };
    const key = new Headers(init.headers).get("idempotency-key") ?? "";
    const first = created.get(key);
    if (first !== undefined) return { status: 201, body: first };
    const { name, categoryId } = JSON.parse(String(init.body)) as {
      readonly name: string;
      readonly categoryId: number;
    };
    const body = JSON.stringify({ id: created.size + 1, name, categoryId, status: "available" });
    created.set(key, body);
    stored.set(name, (stored.get(name) ?? 0) + 1);
    return { status: 201, body };
  }

  return {
    stored,
    async fetch(_input, init) {
      await travel();
      const served = life;
      if (served < 0) throw new TypeError("connection refused");
      const decision = await quota.reserve({ account: "1", key: "1", limits, cost: 1 });
      const { status, body } = refusal(decision) ?? serve(init);
      const response = new Response(body, { status, headers: headersOf(decision) });
      await travel();
      if (life !== served) throw new TypeError("connection reset");
      return response;
    },
    kill() {
      life = -life - 1;
    },
    restart() {
      life = -life;
      quota = createLocalQuota({ now: Date.now });
    },
  };
}

function refusal({ outcome }: Decision): { readonly status: number; readonly body: string } | undefined {
  if (outcome === "admitted") return undefined;
  // No test reaches the limit of the day.
  const code = outcome === "banned" ? "API_KEY_BANNED" : "RATE_LIMIT_EXCEEDED";
  const { status, meaning } = problems[code];
  return { status, body: JSON.stringify({ code, message: meaning, status }) };
}

function headersOf(decision: Decision): Headers {
  const window = reportedWindow(decision);
  const headers = new Headers({
    Date: new Date(decision.nowMs).toUTCString(),
    "X-RateLimit-Limit": `${window.limit}`,
    "X-RateLimit-Remaining": `${remaining(window)}`,
    "X-RateLimit-Reset": `${Math.ceil(window.resetAtMs / 1000)}`,
  });
  if (decision.outcome === "refused" || decision.outcome === "banned") {
    headers.set("Retry-After", `${retryAfterSeconds(decision)}`);
  }
  return headers;
}
