import type { HttpRequest } from "./http-request.js";
import type { Reply } from "./reply.js";
import { corsHeaders } from "./write-reply.js";

/** Allows every request header that the browser asks for. Without cookies, a list would protect nothing. */
export function preflightReply({ headers }: HttpRequest): Reply {
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
