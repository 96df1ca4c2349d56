import type { Charge, Problem, QuotaReport, Ticket } from "@petstore/core";
import type { HttpRequest } from "./http-request.js";
import type { Failure, Reply } from "./reply.js";

/** A request whose client accepts a media type of the resource. */
export interface AcceptableRequest extends HttpRequest {
  readonly mediaType: string;
}

/** Called after admission. Throws a `Problem`, which becomes the response. */
export type Handler = (request: AcceptableRequest, ticket: Ticket) => Promise<Reply | Failure>;

/**
 * One entry in the table of routes. Every resource needs an API key. HEAD is handled as GET without the body; `app.ts`
 * answers OPTIONS, and any other method with 405 and Allow.
 */
export interface Resource {
  /** A segment in braces, as in `/v1/pets/{petId}`, can have any text. The log, the metrics and the traces show it so. */
  readonly path: string;
  /** Under which operation the unit that every request takes at its admission is counted. A `free` request takes none. */
  readonly charge: Charge;
  /**
   * Counts a request of this key to a free path, and returns the problem of a key that is over the limit of the path. Refusals
   * count too. The problem is not a strike.
   */
  readonly limitKey?: (keyId: bigint) => Problem | undefined;
  readonly GET?: Handler;
  readonly POST?: Handler;
  /** The media types of the responses, the default first. Without it: JSON. A client that accepts none gets 406. */
  readonly mediaTypes?: readonly string[];
  /** Headers and links of every response, refusals included. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly links?: readonly string[];
  /** The body of a problem. Without it: the schema `Error` of the REST API. */
  readonly problemBody?: (problem: Problem, quota: QuotaReport) => string;
}
