/**
 * What travels over NOTIFY: news of changes, which triggers of the database tell in the transaction of the change;
 * questions of the command line to the running instances; and their answers. Whoever may connect to the database can
 * send anything: what cannot be read is dropped.
 */
import { z } from "zod";
import type { QuotaMode } from "../quota/decision.js";
import type { Limits } from "../quota/plan.js";
import type { BanRecord, Usage } from "../quota/quota.js";

/** News and questions. */
export const newsChannel = "petstore";
export const answerChannel = "petstore_answer";
/** What the database calls the connections of instances that listen: so they can be counted. */
export const listenerName = "petstore-listen";

export type News = AccountChanged | Asked;

/** An account or one of its keys is not what it was. */
interface AccountChanged {
  readonly kind: "account-changed";
  readonly account: string;
  /** A ban was lifted, of this lineage of keys. */
  readonly lifted?: { readonly key: string; readonly atMs: number } | undefined;
}

interface Asked {
  readonly kind: "question";
  readonly question: string;
  readonly ask: Question;
}

export type Question =
  /** Who is there? */
  | { readonly about: "presence" }
  | { readonly about: "usage"; readonly account: string; readonly limits: Limits }
  /** Only of these instances: those that share a Redis would all tell the same, and look for it long. */
  | { readonly about: "bans"; readonly of: readonly string[] };

export interface Answer {
  readonly question: string;
  readonly instance: string;
  readonly mode: QuotaMode;
  readonly usage?: Usage | undefined;
  readonly bans?: readonly BanRecord[] | undefined;
  /** The instance could not find it out. */
  readonly failed?: boolean | undefined;
  /** Another part of the same answer follows: a notification holds less than 8,000 bytes. */
  readonly more?: boolean | undefined;
}

export function readNews(payload: string): News | undefined {
  return newsSchema.safeParse(parseJson(payload)).data;
}

export function readAnswer(payload: string): Answer | undefined {
  return answerSchema.safeParse(parseJson(payload)).data;
}

const id = z.string().regex(/^\d{1,19}$/);
const name = z.string().max(300);
const whole = z.int().nonnegative();
const limits = z.object({ perMinute: z.int().positive(), perDay: z.int().positive() });
const windowState = z.object({ limit: whole, used: whole, resetAtMs: whole });

const newsSchema: z.ZodType<News> = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("account-changed"),
    account: id,
    lifted: z.object({ key: id, atMs: whole }).optional(),
  }),
  z.object({
    kind: z.literal("question"),
    question: name,
    ask: z.discriminatedUnion("about", [
      z.object({ about: z.literal("presence") }),
      z.object({ about: z.literal("usage"), account: id, limits }),
      z.object({ about: z.literal("bans"), of: z.array(name) }),
    ]),
  }),
]);

const answerSchema: z.ZodType<Answer> = z.object({
  question: name,
  instance: name,
  mode: z.enum(["local", "shared", "fallback"]),
  usage: z.object({ nowMs: whole, minute: windowState, day: windowState }).optional(),
  bans: z.array(z.object({ account: name, key: name, bannedUntilMs: whole })).optional(),
  failed: z.boolean().optional(),
  more: z.boolean().optional(),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No schema accepts it; whoever sent it gets no answer.
    return undefined;
  }
}
