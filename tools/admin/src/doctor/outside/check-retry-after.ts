// Whether Retry-After reaches the client. It costs nothing to cause one: a second call of GET /usage/history within a second
// gets 429, which takes no unit and is no strike.
import { type Finding, fault, ok, skipped } from "../finding.js";
import type { StoreClient } from "./store-client.js";

/** Each instance has a limit of its own, and a second may end between two calls. */
const calls = 8;

export async function checkRetryAfter(client: StoreClient): Promise<Finding> {
  const check = "retry-after";
  for (let call = 0; call < calls; call += 1) {
    const { status, code, headers } = await client.send({ api: "REST", path: "/usage/history", charge: "free" });
    if (status !== 429 || code !== "RATE_LIMIT_EXCEEDED") continue;
    if (/^[1-9]\d*$/.test(headers["retry-after"] ?? "")) return ok(check, "a 429 says how long to wait");
    const advice = "Let the proxy pass on Retry-After: a client that does not wait is banned.";
    return fault(check, "a 429 has none", advice, "what-a-proxy-must-pass-on");
  }
  return skipped(check, `not seen: no call of ${calls} of GET /usage/history got 429`);
}
