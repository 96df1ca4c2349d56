// Whether the times in responses agree with each other and with this machine.
import { type Finding, fault, ok, tolerableMs } from "../finding.js";
import { byApi, type ListedByBoth } from "./lists.js";
import type { ApiName, StoreResponse } from "./store-client.js";

export function checkClocks(lists: ListedByBoth): Finding {
  const check = "clocks";
  const faults = byApi(lists).flatMap(([api, response]) => [
    ...dateFaults(api, response),
    ...resetFaults(api, response),
  ]);
  if (faults.length === 0) return ok(check, "both APIs and this machine agree within a second");
  const advice =
    "Synchronise the clocks of all machines, with chrony or systemd-timesyncd. If they agree, let the proxy pass on Date " +
    "and X-RateLimit-Reset, and keep no response of the APIs.";
  return fault(check, faults.join("; "), advice, "what-a-proxy-must-pass-on");
}

function dateFaults(api: ApiName, { headers, sentAtMs, receivedAtMs }: StoreResponse): readonly string[] {
  const dateMs = Date.parse(headers.date ?? "");
  if (Number.isNaN(dateMs)) return [`${api} sends no Date`];
  // The header is the beginning of the second in which the response was made.
  const aheadMs = dateMs - receivedAtMs;
  const behindMs = sentAtMs - (dateMs + 1_000);
  if (Math.max(aheadMs, behindMs) <= tolerableMs) return [];
  const seconds = Math.round(Math.max(aheadMs, behindMs) / 1_000);
  return [`the Date of ${api} is ${seconds} s ${aheadMs > behindMs ? "ahead of" : "behind"} this machine`];
}

const daySeconds = 86_400;

/** A window is a minute or a day of UTC, and ends after the response. */
function resetFaults(api: ApiName, { headers, sentAtMs, receivedAtMs }: StoreResponse): readonly string[] {
  const reset = Number(headers["x-ratelimit-reset"] ?? Number.NaN);
  // Another check reports that it is missing.
  if (Number.isNaN(reset)) return [];
  if (reset % 60 !== 0) return [`X-RateLimit-Reset of ${api} is not the beginning of a minute`];
  const isPast = reset * 1_000 < sentAtMs - tolerableMs;
  const isFar = reset * 1_000 > receivedAtMs + daySeconds * 1_000 + tolerableMs;
  return isPast || isFar ? [`X-RateLimit-Reset of ${api} is ${isPast ? "in the past" : "more than a day ahead"}`] : [];
}
