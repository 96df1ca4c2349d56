type Fetch = typeof globalThis.fetch;

/** The `fetch` of the platform, with counters. */
export interface Witness {
  readonly fetch: Fetch;
  /** Answers by status. */
  readonly answers: ReadonlyMap<number, number>;
  readonly bans: number;
  /** Repeated creates that the service had already done. */
  readonly replays: number;
  /** Requests without an answer. */
  readonly unanswered: number;
}

/** `isLost` decides for each answer whether it gets lost after the service has done its work. */
export function createWitness(isLost: () => boolean = () => false): Witness {
  const answers = new Map<number, number>();
  const counts = { bans: 0, replays: 0, unanswered: 0 };
  return {
    answers,
    get bans() {
      return counts.bans;
    },
    get replays() {
      return counts.replays;
    },
    get unanswered() {
      return counts.unanswered;
    },
    async fetch(input, init) {
      try {
        const response = await fetch(input, init);
        const text = await response.text();
        if (isLost()) throw new TypeError("the answer is lost");
        const { status, headers } = response;
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (text.includes('"API_KEY_BANNED"')) counts.bans += 1;
        if (headers.has("idempotency-replayed")) counts.replays += 1;
        return new Response(text, { status, headers });
      } catch (error) {
        if (!init?.signal?.aborted) counts.unanswered += 1;
        throw error;
      }
    },
  };
}
