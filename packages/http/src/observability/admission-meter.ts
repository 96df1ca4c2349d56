import type { Decision, QuotaMode } from "@petstore/core";
import type { OverloadReason } from "../server/overload.js";
import type { MetricFamily, Sample } from "./metric-family.js";

/** Whose units a decision was about: an account's, or an address's that showed no valid key. */
type Bucket = "account" | "address";

/** Counts what admission decides, in plain integers. */
export interface AdmissionMeter {
  /** `undecided` is a quota that may not decide while Redis is away. */
  decided(bucket: Bucket, mode: QuotaMode, outcome: Outcome): void;
  shed(reason: OverloadReason): void;
  readonly families: readonly MetricFamily[];
}

type Outcome = Decision["outcome"] | "undecided";

const modes = ["local", "shared", "fallback"] as const;
const buckets = ["account", "address"] as const;

export function createAdmissionMeter(): AdmissionMeter {
  const decisions = {
    account: { local: noDecisions(), shared: noDecisions(), fallback: noDecisions() },
    address: { local: noDecisions(), shared: noDecisions(), fallback: noDecisions() },
  };
  const shed: Record<OverloadReason, number> = { "event-loop": 0, database: 0 };

  return {
    decided(bucket, mode, outcome) {
      decisions[bucket][mode][outcome] += 1;
    },
    shed(reason) {
      shed[reason] += 1;
    },
    families: [
      {
        name: "petstore_quota_decisions_total",
        help: "Quota decisions by bucket (account, or address without a valid key), mode and outcome.",
        type: "counter",
        samples: () =>
          buckets.flatMap((bucket) =>
            modes.flatMap((mode): Sample[] =>
              Object.entries(decisions[bucket][mode]).map(([outcome, value]) => ({
                labels: { bucket, mode, outcome },
                value,
              })),
            ),
          ),
      },
      {
        name: "petstore_requests_shed_total",
        help: "Requests refused before any work because they could only have been late, by what there was too much of.",
        type: "counter",
        samples: () => Object.entries(shed).map(([reason, value]) => ({ labels: { reason }, value })),
      },
    ],
  };
}

function noDecisions(): Record<Outcome, number> {
  return { admitted: 0, refused: 0, banned: 0, impossible: 0, undecided: 0 };
}
