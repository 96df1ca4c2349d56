import type { Admission, Limits } from "@petstore/core";
import { createAddressLimit } from "./address-limit.js";
import type { HttpRequest } from "./http-request.js";
import type { Answer, Reply } from "./reply.js";
import { corsHeaders } from "./write-reply.js";

/**
 * A browser repeats a preflight request after some hours, but many browsers can share an address. The day limit is never
 * reached: 12,000 a minute is 17,280,000 a day.
 */
const preflightsPerAddress: Limits = { perMinute: 12_000, perDay: 20_000_000 };

/** Answers preflight requests, which need no key and cost no units. */
export function createPreflight(
  admission: Pick<Admission, "addressUsage">,
  now: () => number,
): (request: HttpRequest) => Promise<Answer> {
  const message = `An address may send ${preflightsPerAddress.perMinute} preflight requests a minute.`;
  const count = createAddressLimit(admission, preflightsPerAddress, message, now);
  return (request) => count(request, () => preflightReply(request));
}

/** Allows every request header that the browser asks for. Without cookies, a list would protect nothing. */
function preflightReply({ headers }: HttpRequest): Reply {
  const requested = headers["access-control-request-headers"];
  return {
    status: 204,
    headers: {
      ...corsHeaders,
      ...(requested !== undefined && { "Access-Control-Allow-Headers": requested }),
      "Access-Control-Allow-Methods": "GET,HEAD,POST",
      "Access-Control-Max-Age": "86400",
    },
  };
}
