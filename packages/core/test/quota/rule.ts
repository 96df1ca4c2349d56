import type { BanPolicy } from "../../src/quota/ban-policy.js";
import type { Limits } from "../../src/quota/plan.js";
import type { Caller } from "./caller.js";

/** Declares a test with a new account. The ban policy is the default one but for `policy`. */
export type Rule = (
  title: string,
  given: { readonly limits: Limits; readonly policy?: Partial<BanPolicy> },
  test: (caller: Caller) => Promise<void>,
) => void;
