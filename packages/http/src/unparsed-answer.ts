import { randomUUID } from "node:crypto";
import type { Log } from "@petstore/core";
import type { Admission } from "./admission.js";
import { errorShape, jsonMediaType, problemHeaders } from "./problem-response.js";
import { rateLimitHeaders } from "./rate-limit-headers.js";
import type { RequestMeter } from "./request-meter.js";
import type { AnswerUnparsed } from "./unparsed.js";

export interface UnparsedAnswerDeps {
  readonly admission: Pick<Admission, "countUnparsed">;
  readonly log: Log;
  readonly meter: Pick<RequestMeter, "count">;
}

const route = "unparsed";
const unknownMethod = "";

/** Answers what failed before it became a request, with what every other answer carries. */
export function createUnparsedAnswer({ admission, log, meter }: UnparsedAnswerDeps): AnswerUnparsed {
  return async (fault, remoteAddress) => {
    const requestId = randomUUID();
    const { decision, problem } = await admission.countUnparsed(fault, remoteAddress);
    meter.count({ route, problem: problem.code }, unknownMethod, problem.status, 0);
    log.info({ requestId, clientAddress: remoteAddress, route, status: problem.status, code: problem.code }, "request");
    return {
      status: problem.status,
      headers: [
        ["X-Request-Id", requestId],
        ["Cache-Control", "no-store"],
        ["X-Content-Type-Options", "nosniff"],
        ["Access-Control-Allow-Origin", "*"],
        ...rateLimitHeaders(decision),
        ...problemHeaders(problem),
        ["Content-Type", jsonMediaType],
      ],
      body: errorShape(problem),
    };
  };
}
