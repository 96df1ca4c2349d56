import { type Answer, createResponseCheck, type OpenApi, type ResponseCheck } from "@petstore/harness/response-check";
import type { Check } from "./section.js";

/** Holds every answer of REST that a run hears against the OpenAPI document which the answering service itself serves. */
export interface DescribedAnswers {
  /** Reads the document of a service; only then can its answers be heard. */
  read(origin: string): Promise<void>;
  hear(origin: string, request: { readonly method: string; readonly path: string }, answer: Answer): void;
  /** What was heard since the run began. That nothing was is a difference. */
  check(): Check;
}

export function openDescribedAnswers(): DescribedAnswers {
  const documents = new Map<string, ResponseCheck>();
  const heard = new Map<string, number>();
  const violations = new Map<string, number>();
  let outside = 0;
  return {
    async read(origin) {
      const document = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenApi;
      documents.set(origin, createResponseCheck(document));
    },
    hear(origin, { method, path }, answer) {
      const document = documents.get(origin);
      if (document === undefined) throw new Error(`the document of ${origin} was not read`);
      const operation = document.operationOf(method, path);
      if (operation === undefined) {
        outside += 1;
        return;
      }
      add(heard, operation);
      for (const fault of document.violations(operation, answer))
        add(violations, `${operation} ${answer.status}: ${fault}`);
    },
    check() {
      const total = sum(heard);
      return {
        name: "every answer of REST is as the OpenAPI document of the service says",
        differences:
          total === 0
            ? ["no answer was heard"]
            : [...violations].map(([violation, times]) => `${violation}, ${times} times`),
        figure:
          `${total} answers (${[...heard].map((entry) => entry.join(" ")).join(", ")}), ${sum(violations)} violations; ` +
          `${outside} more were of methods it does not describe`,
      };
    },
  };
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
