/**
 * The messages sent by NOTIFY. Triggers publish a change event in the transaction of the change. The `petstore` command
 * sends requests to the running instances, which respond. Every role that may connect to the database can send any text,
 * so an unreadable message is dropped. Instances of release 1.0 may use the same database, so channels and fields keep
 * their names: `question` is the id of a request, and `ask` is the request.
 */
import { z } from "zod";
import type { QuotaMode } from "../quota/decision.js";
import type { Ban, KeyPenalty } from "../quota/penalties.js";
import type { Limits } from "../quota/plan.js";
import type { Usage } from "../quota/quota.js";

export const changeChannel = "petstore";
export const responseChannel = "petstore_answer";
/** The application name of each connection that listens. The `petstore` command counts instances by this name. */
export const subscriberName = "petstore-listen";

export type ChangeEvent =
  /** The trigger may add `lifted`, which only earlier releases read. */
  | { readonly kind: "account-changed"; readonly account: string }
  /** An operator has changed or deleted pets in SQL. Releases up to 1.1 drop this event, and keep no pages. */
  | { readonly kind: "pets-changed" }
  | { readonly kind: "question"; readonly question: string; readonly ask: OperatorRequest };

/** An instance of an older release does not respond to a request that it does not know, and ignores fields of others. */
export type OperatorRequest =
  | { readonly about: "presence" }
  | {
      readonly about: "usage";
      readonly account: string;
      readonly limits: Limits;
      /** The lineages of the keys whose penalties the response shows, at most `maxPenalties`. */
      readonly keys?: readonly string[] | undefined;
    }
  /** Only the instances in `of` respond, because all instances that share a Redis would read the same bans in it. */
  | { readonly about: "bans"; readonly of: readonly string[] };

export interface OperatorResponse {
  readonly question: string;
  readonly instance: string;
  readonly mode: QuotaMode;
  readonly usage?: Usage | undefined;
  /** Of the keys of the request. Absent if they could not be read, and from releases up to 1.1. */
  readonly penalties?: readonly KeyPenalty[] | undefined;
  readonly bans?: readonly ReportedBan[] | undefined;
  /** True if the bans could not be read. */
  readonly failed?: boolean | undefined;
  /** True if another part of the response follows, with further bans. */
  readonly more?: boolean | undefined;
}

export const quotaModes: readonly QuotaMode[] = ["local", "shared", "fallback"];

/** Releases up to 1.1 do not report the age. */
export type ReportedBan = Omit<Ban, "sinceMs"> & Partial<Pick<Ban, "sinceMs">>;

/** A message has at most 8,000 bytes. Each of these takes up to 140. */
export const maxPenalties = 50;

export function readChangeEvent(payload: string): ChangeEvent | undefined {
  return changeEventSchema.safeParse(parseJson(payload)).data;
}

export function readResponse(payload: string): OperatorResponse | undefined {
  return responseSchema.safeParse(parseJson(payload)).data;
}

const id = z.string().regex(/^\d{1,19}$/);
const name = z.string().max(300);
const whole = z.int().nonnegative();
const limits = z.object({ perMinute: z.int().positive(), perDay: z.int().positive() });
const windowState = z.object({ limit: whole, used: whole, resetAtMs: whole });

const reportedBan = z.object({
  account: id,
  key: id,
  bannedUntilMs: whole,
  sinceMs: z.int().exactOptional(),
});
const penalty = z.object({
  key: id,
  sinceMs: z.int(),
  bannedUntilMs: whole.exactOptional(),
  strikes: whole,
  strikesThatBan: whole,
});

const changeEventSchema: z.ZodType<ChangeEvent> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("account-changed"), account: id }),
  z.object({ kind: z.literal("pets-changed") }),
  z.object({
    kind: z.literal("question"),
    question: name,
    ask: z.discriminatedUnion("about", [
      z.object({ about: z.literal("presence") }),
      z.object({ about: z.literal("usage"), account: id, limits, keys: z.array(id).max(maxPenalties).optional() }),
      z.object({ about: z.literal("bans"), of: z.array(name) }),
    ]),
  }),
]);

const responseSchema: z.ZodType<OperatorResponse> = z.object({
  question: name,
  instance: name,
  mode: z.enum(quotaModes),
  usage: z.object({ nowMs: whole, minute: windowState, day: windowState }).optional(),
  penalties: z.array(penalty).optional(),
  bans: z.array(reportedBan).optional(),
  failed: z.boolean().optional(),
  more: z.boolean().optional(),
});

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No schema accepts `undefined`.
    return undefined;
  }
}
