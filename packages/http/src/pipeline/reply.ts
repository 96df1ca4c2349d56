/** Defines a reply, and makes the usual ones. */
import type { Problem, ProblemCode, QuotaReport } from "@petstore/core";
import type { GraphqlOperation } from "../observability/completed-request.js";
import { jsonMediaType } from "../server/media-types.js";

/** A response as a value. `write-reply.ts` adds the headers that all responses have. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of the Link header (RFC 8288). */
  readonly links?: readonly string[];
  /** Left out of the response to HEAD. */
  readonly body?: string | Buffer;
  /** All problems of the request. They set WWW-Authenticate and Retry-After, and the first one has a link to its help. */
  readonly problems?: readonly Problem[];
  /** For log and metrics, if it is not the most serious of `problems`. */
  readonly problemCode?: ProblemCode;
  /** For log and traces. */
  readonly operation?: GraphqlOperation | undefined;
  /** For log and metrics. */
  readonly isBrownout?: boolean | undefined;
}

/** A reply, and what its headers show about the quota and the key. */
export interface Answer {
  readonly reply: Reply;
  /** Absent if the quota could not be read. */
  readonly quota: QuotaReport | undefined;
  /** When the key of the request ends, as an HTTP date. Absent unless this is soon. */
  readonly announcedExpiry?: string | undefined;
}

/** What a handler returns instead of a reply if its request fails as a whole. A thrown problem means the same. */
export interface Failure {
  readonly problem: Problem;
  readonly headers?: Readonly<Record<string, string>>;
  readonly operation?: GraphqlOperation | undefined;
  /** The service has no fault: the removal of the operation is rehearsed. The request gets its units back. */
  readonly isBrownout?: boolean | undefined;
}

export function jsonReply(status: number, text: string, headers?: Readonly<Record<string, string>>): Reply {
  return { status, headers: { ...headers, "Content-Type": jsonMediaType }, body: text };
}

/** The body is by default the schema `Error` of the REST API. */
export function problemReply(problem: Problem, text: string = JSON.stringify(problem)): Reply {
  return { ...jsonReply(problem.status, text), problems: [problem] };
}

/** The problem that log and metrics name: an error of the service before an error of the client. */
export function problemCodeOf({ problems = [], problemCode }: Reply): ProblemCode | undefined {
  return problemCode ?? (problems.find(({ status }) => status >= 500) ?? problems[0])?.code;
}
