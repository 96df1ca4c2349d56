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
  /** As many decisions as the time allows, for each account in turn. */
  | { readonly kind: "load"; readonly callers: number; readonly seconds: number; readonly accounts: number }
  /** One decision for every account. */
  | { readonly kind: "visit"; readonly accounts: number }
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

/** A contestant that is running. */
export interface QuotaEngine extends AsyncDisposable {
  readonly contestant: QuotaContestant;
  readonly accounts: number;
  load(callers: number, seconds: number): Promise<QuotaLoad>;
  visit(): Promise<void>;
  startProfile(): Promise<void>;
  writeProfile(file: string): Promise<void>;
}

export interface QuotaEngineOptions {
  readonly redisUrl: string;
  /** Decisions are about so many accounts. */
  readonly accounts: number;
  readonly signal: AbortSignal;
}

export function openQuotaEngine(
  contestant: QuotaContestant,
  { redisUrl, accounts, signal }: QuotaEngineOptions,
): QuotaEngine {
  const child = openChild(contestant.name, contestant.main, {
    env: { NODE_ENV: "production", REDIS_URL: redisUrl },
    signal,
  });
  return {
    contestant,
    accounts,
    load: async (callers, seconds) =>
      (await ask(contestant, child, { kind: "load", callers, seconds, accounts })) as QuotaLoad,
    visit: async () => void (await ask(contestant, child, { kind: "visit", accounts })),
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
