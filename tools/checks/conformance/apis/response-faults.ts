import { problems } from "@petstore/core";
import { type Answer, parseJson } from "@petstore/harness/network";
import { isLeak, type ResponseCheck } from "@petstore/harness/responses";

export type ApiName = "rest" | "graphql";

/**
 * Returns a function that returns the faults of a response to any request. Each fault begins with its kind.
 *
 * @param secrets keys that no response may contain
 */
export function createResponseFaults({ operationOf, violations }: ResponseCheck, secrets: readonly string[]) {
  return (api: ApiName, method: string, path: string, answer: Answer): readonly string[] => {
    const { status, headers, text } = answer;
    const faults = Object.entries(requiredHeaders)
      .filter(([name, format]) => !format.test(headers[name] ?? ""))
      .map(([name]) => `header: ${name} is ${headers[name] ?? "missing"}`);
    if (status >= 500) faults.push(`5xx: ${status}`);
    if (hasLeak(answer, secrets)) faults.push("leak: the response contains a key, SQL, a stack or a path");
    if (method === "HEAD" || (method === "OPTIONS" && status === 204)) {
      return text === "" ? faults : [...faults, "body: the response must not have one"];
    }
    const operation = api === "rest" ? operationOf(method, path) : undefined;
    if (operation !== undefined) {
      return [...faults, ...violations(operation, answer).map((violation) => `document: ${violation}`)];
    }
    // The HTTP server refuses these requests before they reach an API.
    const isBelowApi = status === 431 || text.startsWith('{"code":"MALFORMED_REQUEST"');
    if (api === "graphql" && /^\/graphql(\?|$)/.test(path) && !isBelowApi) return [...faults, ...graphqlFaults(answer)];
    // A browser without a key gets a page for a path outside the APIs.
    const mayBePage = method === "GET" && status === 404 && !/^\/(v1|graphql)([/?]|$)/.test(path);
    if (mayBePage && headers["content-type"] === "text/html; charset=utf-8" && text.startsWith("<!doctype html>")) {
      return faults;
    }
    return [...faults, ...strayPathFaults(answer)];
  };
}

const requiredHeaders: Readonly<Record<string, RegExp>> = {
  "x-content-type-options": /^nosniff$/,
  "x-ratelimit-limit": /^[1-9]\d*$/,
  "x-ratelimit-remaining": /^\d+$/,
  "x-ratelimit-reset": /^[1-9]\d{9}$/,
  "x-request-id": /^[\w.:+/=-]{1,128}$/,
};

/** The name of a pet is its client's text, so the rules for errors do not apply to it. */
function hasLeak({ text, headers }: Answer, secrets: readonly string[]): boolean {
  const message = /"errors":|"code":/.test(text) ? text.replaceAll(/"name":"(?:[^"\\]|\\.)*"/g, "") : "";
  const whole = `${text}\n${Object.values(headers).join("\n")}`;
  return isLeak(message) || secrets.some((secret) => whole.includes(secret));
}

type Body = Readonly<Record<string, unknown>> | undefined;

/** A path or method that no document describes gets the Error body. */
function strayPathFaults({ status, headers, text }: Answer): readonly string[] {
  const body = parseJson(text) as Body;
  if (body === undefined || !headers["content-type"]?.startsWith("application/json")) return ["body: it is not JSON"];
  if (Object.keys(body).sort().join() !== "code,message,status") return ["body: it is not an Error"];
  return body.status === status ? problemFaults(body) : [`body: ${body.status} in a ${status}`];
}

const graphqlStatuses = [200, 400, 401, 403, 405, 406, 413, 415, 429];

/** GraphQL over HTTP, sections 6.3 and 6.4, and decision 0007 of core. */
function graphqlFaults({ status, headers, text }: Answer): readonly string[] {
  const body = parseJson(text) as Body;
  const isJson = /^application\/(graphql-response\+)?json; charset=utf-8$/.test(headers["content-type"] ?? "");
  if (body === undefined || !isJson) return ["body: it is not JSON"];
  const { data, errors, extensions, ...others } = body;
  const faults = Object.keys(others).map((name) => `body: GraphQL has no ${name}`);
  if (status < 500 && !graphqlStatuses.includes(status)) faults.push(`document: the API does not use ${status}`);
  if (errors === undefined) {
    const cost = Number((extensions as { readonly cost?: unknown } | undefined)?.cost);
    if (status !== 200 || typeof data !== "object" || data === null) faults.push(`body: a ${status} without data`);
    return Number.isInteger(cost) && cost >= 1 && cost <= 10 ? faults : [...faults, `body: the cost is ${cost}`];
  }
  if (!Array.isArray(errors) || errors.length === 0) return [...faults, "body: the errors are empty"];
  for (const { message, extensions: error = {} } of errors) {
    faults.push(...problemFaults({ ...error, message }));
    if (status !== 200 && (error.status !== status || data !== undefined)) {
      faults.push(`body: ${error.status} in a ${status}`);
    }
  }
  return faults;
}

/** An error of either API: a message, and one of our codes with its status. */
function problemFaults({ code, status, message }: Readonly<Record<string, unknown>>): string[] {
  const faults: string[] = [];
  if (typeof message !== "string" || message === "") faults.push("body: an error has no message");
  if (status === undefined || statuses.get(code) !== status) faults.push(`body: an error is ${code} ${status}`);
  if (Number(status) >= 500) faults.push(`5xx: ${code} in the body`);
  return faults;
}

const statuses: ReadonlyMap<unknown, number> = new Map(
  Object.entries(problems).map(([code, { status }]) => [code, status]),
);
