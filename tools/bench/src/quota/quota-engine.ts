import { type Child, openChild } from "../child.js";

/** A program that makes decisions, in turns with the others. */
export interface QuotaContestant {
  readonly name: string;
  /** The module that Node starts: it gets REDIS_URL and answers orders. */
  readonly main: URL;
  /** What its keys in Redis begin with; absent, it keeps none there. */
  readonly prefix?: string;
}

export type QuotaOrder =
  /** As many decisions as the time allows. */
  | { readonly kind: "load"; readonly callers: number; readonly seconds: number }
  /** One decision for every account. */
  | { readonly kind: "visit" }
  | { readonly kind: "start-profile" }
  | { readonly kind: "write-profile"; readonly file: string };

export interface QuotaLoad {
  /** All of them made: at the end, those under way are waited for. */
  readonly decisions: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** User and system time of all threads of the process, which are the callers and the engine. */
  readonly cpuMicroseconds: number;
}

export interface QuotaVisit {
  readonly accounts: number;
}

/** A contestant that is running. */
export interface QuotaEngine extends AsyncDisposable {
  readonly contestant: QuotaContestant;
  load(callers: number, seconds: number): Promise<QuotaLoad>;
  /** Resolves with the number of accounts. */
  visit(): Promise<number>;
  startProfile(): Promise<void>;
  writeProfile(file: string): Promise<void>;
}

export function openQuotaEngine(contestant: QuotaContestant, redisUrl: string, signal: AbortSignal): QuotaEngine {
  const child = openChild(contestant.name, contestant.main, {
    env: { NODE_ENV: "production", REDIS_URL: redisUrl },
    signal,
  });
  return {
    contestant,
    load: async (callers, seconds) => (await ask(contestant, child, { kind: "load", callers, seconds })) as QuotaLoad,
    visit: async () => ((await ask(contestant, child, { kind: "visit" })) as QuotaVisit).accounts,
    startProfile: async () => void (await ask(contestant, child, { kind: "start-profile" })),
    writeProfile: async (file) => void (await ask(contestant, child, { kind: "write-profile", file })),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function ask({ name }: QuotaContestant, child: Child, order: QuotaOrder): Promise<unknown> {
  const answer = await child.ask(order);
  if (answer instanceof Object && "error" in answer) throw new Error(`${name} failed: ${answer.error}`);
  return answer;
}
