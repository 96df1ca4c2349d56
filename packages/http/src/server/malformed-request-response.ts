import { randomUUID } from "node:crypto";
import type { Log } from "@petstore/core";
import type { RequestMeter } from "../observability/request-meter.js";
import type { Admission } from "../pipeline/admission.js";
import { errorShape, jsonMediaType, problemHeaders } from "../pipeline/problem-response.js";
import { rateLimitHeaders } from "../pipeline/rate-limit-headers.js";
import type { AnswerMalformedRequest } from "./malformed-request.js";

export interface MalformedRequestResponseDeps {
  readonly admission: Pick<Admission, "countMalformedRequest">;
  readonly log: Log;
  readonly meter: Pick<RequestMeter, "count">;
}

const route = "malformed";
const unknownMethod = "";

/** Answers what failed before it became a request, with what every other answer carries. */
export function createMalformedRequestResponse({
  admission,
  log,
  meter,
}: MalformedRequestResponseDeps): AnswerMalformedRequest {
  return async (fault, remoteAddress) => {
    const requestId = randomUUID();
    const { decision, problem } = await admission.countMalformedRequest(fault, remoteAddress);
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
