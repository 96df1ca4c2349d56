// The first request: whether the address is a pet store, and whether its account can pay for the checks.
import type { KeyScope } from "@petstore/core";
import { Refusal } from "../../command-context.js";
import { describeReceived, jsonIn } from "./exchange.js";
import type { StoreClient, StoreResponse } from "./store-client.js";

/** What the checks need to know of the key. */
export interface CheckedAccount {
  readonly scope: KeyScope;
  /** The free response with the state of the quota. */
  readonly rateLimit: StoreResponse;
}

/** All checks together cost less than this. A test counts. */
export const maxUnits = 30;

interface RateLimitBody {
  readonly minute?: RateLimitWindow;
  readonly day?: RateLimitWindow;
  readonly bannedUntil?: number | null;
  /** Absent in version 1.1 or earlier. */
  readonly key?: { readonly scope?: KeyScope };
}

interface RateLimitWindow {
  readonly remaining?: number;
  readonly reset?: number;
}

/** Throws a refusal that says why the checks cannot be made. */
export async function checkAccount(client: StoreClient): Promise<CheckedAccount> {
  const { rest } = client.target;
  const rateLimit = await client.send({ api: "REST", path: "/rate_limit", charge: "free" });
  const { status, headers, code } = rateLimit;
  if (status >= 300 && status < 400) {
    const to = URL.canParse(headers.location ?? "", rest.href)
      ? new URL(headers.location ?? "", rest).origin
      : "nowhere";
    throw new Refusal(`${rest.origin} redirects to ${to}: give the address that answers itself.`);
  }
  if ((status === 401 || status === 403) && code !== undefined) {
    throw new Refusal(`The store refuses the key: ${describeReceived(rateLimit)}. petstore key find shows what it is.`);
  }
  const { minute, day, bannedUntil, key } = (jsonIn(rateLimit.body) ?? {}) as RateLimitBody;
  if (typeof minute?.remaining !== "number" || typeof day?.remaining !== "number") {
    const answer = `GET /rate_limit got ${describeReceived(rateLimit)}`;
    throw new Refusal(`There is no pet store at ${rest.origin}, or its balancer hides it: ${answer}.`);
  }
  if (typeof bannedUntil === "number") {
    throw new Refusal(`The key is banned until ${isoTime(bannedUntil)}: wait, or use another key.`);
  }
  for (const window of [day, minute] as const) {
    if ((window.remaining ?? 0) >= maxUnits) continue;
    const left = `The account has ${window.remaining} units left, and the checks need up to ${maxUnits}`;
    throw new Refusal(`${left}: try again after ${isoTime(window.reset ?? 0)}, or use another account.`);
  }
  const scope = key?.scope ?? "both";
  if (scope === "write") throw new Refusal("The key may not list pets: use one with the scope read.");
  return { scope, rateLimit };
}

function isoTime(epochSeconds: number): string {
  const time = new Date(epochSeconds * 1_000);
  return Number.isNaN(time.getTime()) ? "an unknown time" : time.toISOString();
}
