import type { Limits, ProblemCode } from "@petstore/core";
import type { Answer, ApiName, Operation } from "../apis/api.js";

/** One row of the table: the same calls, made through every API, must have the same answers. */
export interface Scenario {
  readonly name: string;
  /** Of the account each API is given for this row; roomy ones by default. */
  readonly limits?: Limits;
  /** A valid one by default. */
  readonly key?: KeyKind;
  readonly steps: readonly Step[];
  /** What the answers of one API must show together; the text says what they do not. */
  holds?(answers: readonly Answer[]): string | undefined;
}

export type KeyKind = "valid" | "none" | "malformed" | "unknown" | "revoked" | "expired";

export interface Step {
  readonly operation: Operation | ((known: Known) => Operation);
  /** So that a row whose APIs fail alike, but for another reason than it is about, is noticed. */
  readonly expected: "success" | ProblemCode;
  /** By default `Bearer` and the key, once. */
  authorization?(key: string): readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string | Buffer;
  /** Before the step. */
  readonly waitMs?: number;
  readonly byDesign?: readonly Deviation[];
}

/** What is known of the catalogue before the rows are played. */
export interface Known {
  /** After the third pet of the unfiltered list, and of the list of pending ones: as REST's Link has them. */
  readonly cursor: string;
  readonly pendingCursor: string;
}

/** Where an API differs on purpose. What it says instead is part of the promise: anything else is a difference. */
export interface Deviation {
  readonly api: Exclude<ApiName, "rest">;
  readonly fact: string;
  /** Absent where the API does not have the fact at all. */
  readonly value?: string;
  readonly reason: string;
}
