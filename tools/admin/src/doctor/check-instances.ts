import type { QuotaConfig } from "@petstore/core";
import type { InstanceResponses } from "../instances.js";
import { type Finding, fault, ok, warning } from "./finding.js";

/** Checks that the running instances respond, and that they count as they are configured to. */
export function checkInstances({ responses, listening }: InstanceResponses, quota: QuotaConfig | undefined): Finding[] {
  const check = "instances";
  if (listening === 0) return [warning(check, "none is running on this database", "Start one.")];
  const alone = responses.filter(({ mode }) => mode === "local").length;
  const fallback = responses.filter(({ mode }) => mode === "fallback").map(({ instance }) => instance);
  const findings: Finding[] = [];
  if (responses.length < listening) {
    const silent = `${listening - responses.length} of ${listening} did not answer within 2 s`;
    findings.push(warning(check, silent, "Look at their logs: their database pool may be exhausted."));
  }
  if (alone > 1) {
    const found = `${alone} count for themselves, so an account is granted its limit by each of them`;
    findings.push(fault(check, found, "Set the same REDIS_URL for all of them."));
  }
  if (fallback.length > 0) {
    findings.push(
      fault(check, `${fallback.join(", ")} cannot reach their Redis`, "Look at Redis and at the way there."),
    );
  }
  if (alone === 0 && quota?.redis !== undefined && quota.instances !== listening) {
    const found = `${listening} are running, and QUOTA_INSTANCES says ${quota.instances} here`;
    const advice =
      "Set QUOTA_INSTANCES to how many there are: each grants that part of a limit while Redis is unavailable.";
    findings.push(warning(check, found, advice));
  }
  return findings.length > 0 ? findings : [ok(check, `${listening} running, all answer`)];
}
