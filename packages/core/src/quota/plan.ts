/** How many units an account may use in each UTC minute and each UTC day. Whole numbers, at least 1. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

export type Plan = FixedPlan | "enterprise";
type FixedPlan = "free" | "pro" | "business";

export const planNames: readonly Plan[] = ["free", "pro", "business", "enterprise"];

/** The contract's table "Rate limits by plan". Enterprise has no entry: each of its accounts has custom limits. */
const planLimits: Readonly<Record<FixedPlan, Limits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/** The custom limits of an account, else the limits of its plan. Throws for Enterprise without custom limits. */
export function limitsOf(account: { readonly plan: Plan; readonly customLimits?: Limits | undefined }): Limits {
  const { plan, customLimits } = account;
  if (customLimits !== undefined) return customLimits;
  if (plan === "enterprise") throw new Error("this Enterprise account has no custom limits");
  return planLimits[plan];
}
