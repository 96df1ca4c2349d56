import type { Core, Log } from "@petstore/core";
import { callerOf, catalogueFor, contextOf, problemHeaders, sendJson } from "@petstore/http";
import type { Response } from "express";
import { formatExecutionError, problemOf } from "./error-format.js";
import type { Execute } from "./executor.js";
import type { Operation } from "./operation.js";

export interface OperationAnswerDeps {
  readonly core: Pick<Core, "catalogue" | "catalogueWhileUnreachable">;
  readonly execute: Execute;
  readonly log: Log;
}

export type AnswerOperation = (operation: Operation, res: Response) => Promise<void>;

/**
 * Executes an operation that has been admitted and answers 200, whatever its fields met. Throws SERVICE_UNAVAILABLE,
 * so that it is answered and given back as over REST, when that left it without any effect.
 */
export function createOperationAnswer({ core, execute, log }: OperationAnswerDeps): AnswerOperation {
  return async (operation, res) => {
    const { cost } = operation;
    const replays: boolean[] = [];
    const { data, errors } = await execute(operation, {
      catalogue: catalogueFor(res, core),
      accountId: callerOf(res).accountId,
      onCreated: (replayed) => void replays.push(replayed),
    });
    if (replays.length > 0 && replays.every(Boolean)) res.setHeader("Idempotency-Replayed", "true");
    if (errors.length === 0) {
      sendJson(res, 200, JSON.stringify({ data, extensions: { cost } }));
      return;
    }

    const problems = errors.map(problemOf);
    const unavailable = problems.find(({ code }) => code === "SERVICE_UNAVAILABLE");
    if (unavailable !== undefined && data == null && replays.length === 0) throw unavailable;
    const context = contextOf(res);
    for (const problem of problems) {
      context.problem ??= problem.code;
      for (const [name, value] of problemHeaders(problem)) res.setHeader(name, value);
      if (problem.status >= 500) {
        log.error({ requestId: context.id, code: problem.code, error: problem.cause }, "operation failed");
      }
    }
    sendJson(res, 200, JSON.stringify({ errors: errors.map(formatExecutionError), data, extensions: { cost } }));
  };
}
