import type { SentinelLogin, SentinelUrl } from "@petstore/core";
import { type Finding, fault, ok, warning } from "./finding.js";
import { inspectSentinels, type SentinelFacts } from "./inspect-sentinels.js";

/** What the sentinels of REDIS_URL know: the primary, its replicas, and whether they could replace it. */
export async function checkSentinels(url: SentinelUrl, login: SentinelLogin): Promise<Finding[]> {
  const sentinels = await inspectSentinels(url, login);
  const primaries = new Set(sentinels.flatMap((facts) => ("unusable" in facts ? [] : facts.primary)));
  return [
    ...sentinels.flatMap((facts) => checkSentinel(facts, url)),
    ...(primaries.size === 0 ? [] : [checkPrimary([...primaries])]),
  ];
}

function checkSentinel(facts: SentinelFacts, { name, sentinels: named }: SentinelUrl): Finding[] {
  const check = `sentinel ${facts.address}`;
  if ("unusable" in facts) {
    const advice = facts.unusable.includes("No such master")
      ? `The name after the last sentinel in REDIS_URL, ${name}, must be a name of SENTINEL MASTERS.`
      : "Start it, or correct REDIS_URL, REDIS_SENTINEL_USERNAME or REDIS_SENTINEL_PASSWORD: a failover needs a majority of the sentinels.";
    return [fault(check, `cannot be used: ${facts.unusable}`, advice)];
  }
  const { quorum, hasQuorum, replicas, sentinels } = facts;
  return [
    hasQuorum
      ? ok(`${check} quorum`, quorum)
      : fault(`${check} quorum`, quorum, "Start the other sentinels: without a majority no replica is promoted."),
    replicas > 0
      ? ok(`${check} replicas`, `${replicas} can take over`)
      : fault(`${check} replicas`, "none can take over", "Start a replica, and look at SENTINEL REPLICAS."),
    sentinels < 3
      ? warning(check, `knows ${sentinels} sentinels`, "Run three: a majority of two is two, so none may fail.")
      : sentinels > named.length
        ? warning(check, `knows ${sentinels} sentinels, of ${named.length} in REDIS_URL`, "Name all in REDIS_URL.")
        : ok(check, `knows ${sentinels} sentinels`),
  ];
}

function checkPrimary(primaries: readonly string[]): Finding {
  if (primaries.length === 1) return ok("sentinel primary", `${primaries}`);
  return fault(
    "sentinel primary",
    `the sentinels name different ones: ${primaries.join(", ")}`,
    "Wait for the end of a failover. If this stays, some sentinels cannot reach the others.",
  );
}
