import {
  createLocalQuota,
  type Decision,
  type Limits,
  type ProblemCode,
  problems,
  remaining,
  reportedWindow,
  retryAfterSeconds,
} from "@petstore/core";

export interface VirtualStoreOptions {
  readonly limits: Limits;
  readonly random: () => number;
}

/** The service as a `fetch`, in the time of this process: the real quota engine, one account, one key, a network. */
export interface VirtualStore {
  readonly fetch: typeof globalThis.fetch;
  /** Every answer with the time of its decision. */
  readonly answers: readonly {
    readonly status: number;
    readonly code: ProblemCode | undefined;
    readonly atMs: number;
  }[];
  /** The number of stored pets by name. */
  readonly stored: ReadonlyMap<string, number>;
  /** Cuts every connection and forgets every counter; stored pets stay. */
  kill(): void;
  restart(): void;
}

const latencyMs = { least: 20, most: 80 };

export function createVirtualStore({ limits, random }: VirtualStoreOptions): VirtualStore {
  const answers: VirtualStore["answers"][number][] = [];
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
    answers,
    stored,
    async fetch(_input, init) {
      await travel();
      const served = life;
      if (served < 0) throw new TypeError("connection refused");
      const decision = await quota.reserve({ account: "1", key: "1", limits, cost: 1 });
      const code = refusal(decision);
      const { status, body } = code === undefined ? serve(init) : { status: 429, body: errorBody(code) };
      answers.push({ status, code, atMs: decision.nowMs });
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

function refusal(decision: Decision): ProblemCode | undefined {
  switch (decision.outcome) {
    case "admitted":
      return undefined;
    case "refused":
      return decision.by === "day" ? "DAILY_QUOTA_EXCEEDED" : "RATE_LIMIT_EXCEEDED";
    case "banned":
      return "API_KEY_BANNED";
    case "impossible":
      return "OPERATION_TOO_LARGE";
  }
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

function errorBody(code: ProblemCode): string {
  return JSON.stringify({ code, message: problems[code].meaning, status: problems[code].status });
}
