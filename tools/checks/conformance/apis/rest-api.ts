import type { Answer, RequestOptions } from "@petstore/harness/network";
import { type Api, type Operation, type Outcome, type Pet, requestOptions, type Send } from "./api.js";

export function createRestApi(send: Send): Api {
  return {
    name: "REST",
    async send(call) {
      const { operation, method = operation.kind === "create" ? "POST" : "GET" } = call;
      const answer = await send(method, pathOf(operation), requestOptions(call, createOptions(operation)));
      return { outcome: outcomeOf(operation, answer), headers: answer.headers };
    },
  };
}

function pathOf(operation: Operation): string {
  switch (operation.kind) {
    case "create":
      return "/v1/pets";
    case "get":
      return `/v1/pets/${operation.id}`;
    case "list": {
      const query = Object.entries(operation.query).map(([name, json]) => `${name}=${encodeURIComponent(plain(json))}`);
      return query.length === 0 ? "/v1/pets" : `/v1/pets?${query.join("&")}`;
    }
  }
}

/** A query has no types: a string is written without its quotes. */
function plain(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
}

function createOptions(operation: Operation): RequestOptions {
  if (operation.kind !== "create") return {};
  const { input, idempotencyKey } = operation;
  return { body: input, ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }) };
}

export function outcomeOf({ kind }: Pick<Operation, "kind">, { status, headers, text }: Answer): Outcome {
  // The response to a preflight request.
  if (status === 204 && text === "") return { kind: "success", pets: [], nextCursor: null };
  const json = parseExactly(text);
  if (status >= 400) {
    const { code, message } = json as { readonly code: string; readonly message: string };
    return { kind: "failure", code, message, status };
  }
  const nextCursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? "")?.[1] ?? null;
  return { kind: "success", pets: kind === "list" ? (json as Pet[]) : [json as Pet], nextCursor };
}

/** `JSON.parse` would round an int64, so its digits get quotes first. A quote inside a string follows a backslash. */
function parseExactly(text: string): unknown {
  return JSON.parse(text.replace(/"(id|categoryId)":(-?\d+)/g, '"$1":"$2"'));
}
