import type { DescribedAnswers } from "../described-answers.js";
import type { Answer, Api, Call, Operation, Pet } from "./api.js";
import { callerHeaders, type Exchange, type HttpAnswer, openHttpExchange } from "./http-exchange.js";

export interface RestRouterOptions {
  /** Hears every answer. */
  readonly described?: Pick<DescribedAnswers, "hear">;
  readonly exchange?: Exchange;
}

/** The REST API. Its statuses are the contract's: 200 for a list, 201 for a new pet, and an error's own. */
export function openRestApi(
  origin: string,
  { described, exchange = openHttpExchange(origin) }: RestRouterOptions,
): Api {
  return {
    name: "rest",
    async send(call: Call) {
      const { operation, headers, method, body } = call;
      const request = { ...requestOf(operation), ...(method !== undefined && { method }) };
      const answer = await exchange({
        ...request,
        ...(body !== undefined && { body }),
        headers: { ...callerHeaders(call), ...headersOf(operation), ...headers },
      });
      described?.hear(origin, request, answer);
      return readAnswer(operation, answer);
    },
  };
}

function requestOf(operation: Operation): { method: string; path: string; body?: string } {
  if (operation.kind === "create") return { method: "POST", path: "/v1/pets", body: operation.input };
  const query = Object.entries(operation.query).map(([name, value]) => `${name}=${encodeURIComponent(plain(value))}`);
  return { method: "GET", path: query.length === 0 ? "/v1/pets" : `/v1/pets?${query.join("&")}` };
}

/** A query string has no types: a string is written without its quotes, anything else as JSON has it. */
function plain(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
}

function headersOf(operation: Operation): Record<string, string> {
  if (operation.kind === "list") return {};
  const { idempotencyKey } = operation;
  return {
    "content-type": "application/json",
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
  };
}

function readAnswer(operation: Operation, { status, headers, text, receivedAtMs }: HttpAnswer): Answer {
  const json = text === "" ? undefined : parseExactly(text);
  if (status >= 400) {
    const { code, message, status: said } = json as { code: string; message: string; status: number };
    if (said !== status) throw new Error(`REST says ${said} in the body of a ${status}`);
    return { outcome: { kind: "failure", code, message, status }, headers, receivedAtMs };
  }
  const expected = json === undefined ? 204 : operation.kind === "list" ? 200 : 201;
  if (status !== expected) throw new Error(`REST answers ${status} where the contract has ${expected}`);
  const pets = json === undefined ? [] : operation.kind === "list" ? (json as Pet[]) : [json as Pet];
  const nextCursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? "")?.[1] ?? null;
  return { outcome: { kind: "success", pets, nextCursor }, headers, receivedAtMs };
}

/** `JSON.parse` rounds an int64: its digits are quoted first. Inside a string every quote has a backslash before it. */
function parseExactly(text: string): unknown {
  return JSON.parse(text.replace(/"(id|categoryId)":(-?\d+)/g, '"$1":"$2"'));
}
