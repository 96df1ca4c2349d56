/** What must hold of every answer, whatever was asked. */
import { isLeak } from "@petstore/harness/leak";
import type { HttpAnswer } from "../apis/http-exchange.js";
import type { Fault } from "./fault.js";
import type { OpenApi } from "./openapi.js";
import type { WireRequest } from "./wire.js";

export interface JudgeDeps {
  readonly openApi: Pick<OpenApi, "answerFaults" | "codes">;
  /** Which no answer may repeat. */
  readonly secrets: readonly string[];
}

export type Judge = (request: WireRequest, answer: HttpAnswer) => readonly Fault[];

export function createJudge({ openApi, secrets }: JudgeDeps): Judge {
  const codes: ReadonlySet<string> = new Set([...openApi.codes, ...codesOfGraphql]);
  return ({ api, method, path }, answer) => {
    const { status, headers, text } = answer;
    const faults: Fault[] = [];
    if (status >= 500) faults.push({ oracle: "5xx", reason: `answered ${status}` });
    for (const [name, form] of alwaysThere) {
      if (!form.test(headers[name] ?? ""))
        faults.push({ oracle: "headers", reason: `${name} is ${headers[name] ?? "missing"}` });
    }
    const [bare = ""] = path.split("?");
    const isGraphql = api === "graphql" && bare === "/graphql" && !isPreflight(method, status) && !isBelow(answer);
    const odd = isGraphql ? graphqlFaults(method, answer, codes) : openApi.answerFaults(method, bare, answer);
    for (const reason of odd)
      faults.push(reason.startsWith("5xx") ? { oracle: "5xx", reason } : { oracle: "undocumented", reason });
    if (tells(text, headers, secrets)) faults.push({ oracle: "leak", reason: "the answer tells what it must not" });
    return faults;
  };
}

const codesOfGraphql = ["GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "OPERATION_TOO_LARGE"];

/** The contract's "Rate limit headers", and the request id, in whole numbers and safe characters. */
const alwaysThere = [
  ["x-ratelimit-limit", /^[1-9]\d*$/],
  ["x-ratelimit-remaining", /^\d+$/],
  ["x-ratelimit-reset", /^[1-9]\d{9}$/],
  ["x-request-id", /^[\w.:+/=-]{1,128}$/],
] as const;

function isPreflight(method: string, status: number): boolean {
  return method === "OPTIONS" && status === 204;
}

/** Below the APIs, which it may never have reached: answered alike in front of both. */
function isBelow({ status, text }: HttpAnswer): boolean {
  return status === 431 || text.startsWith('{"code":"MALFORMED_REQUEST"');
}

/** What pets are called is the client's; an answer that lists them is searched for keys alone. */
function tells(text: string, headers: HttpAnswer["headers"], secrets: readonly string[]): boolean {
  const said = /"errors":|"code":/.test(text) ? text.replaceAll(/"name":"(?:[^"\\]|\\.)*"/g, "") : "";
  const whole = `${text}\n${Object.values(headers).join("\n")}`;
  return isLeak(said) || secrets.some((secret) => whole.includes(secret));
}

interface Errors {
  readonly errors?: readonly {
    readonly message?: unknown;
    readonly extensions?: { readonly code?: unknown; readonly status?: unknown };
  }[];
  readonly data?: unknown;
  readonly extensions?: { readonly cost?: unknown };
}

/** GraphQL over HTTP, sections 6.3 and 6.4, and decision 0007 of core. */
function graphqlFaults(method: string, { status, headers, text }: HttpAnswer, codes: ReadonlySet<string>): string[] {
  if (method === "HEAD") return text === "" ? [] : ["HEAD is answered with a body"];
  if (!/^application\/(graphql-response\+)?json; charset=utf-8$/.test(headers["content-type"] ?? ""))
    return ["the body is not JSON"];
  let body: Errors;
  try {
    body = JSON.parse(text) as Errors;
  } catch {
    return ["the body is not well-formed JSON"];
  }
  const faults: string[] = [];
  const strange = Object.keys(body).find((key) => !["data", "errors", "extensions"].includes(key));
  if (strange !== undefined) faults.push("the body has a property GraphQL does not know");
  if (body.errors === undefined) {
    const { cost } = body.extensions ?? {};
    if (status !== 200 || typeof body.data !== "object" || body.data === null)
      faults.push(`a ${status} has neither data nor errors`);
    if (!Number.isInteger(cost) || Number(cost) < 1 || Number(cost) > 10) faults.push(`the cost is ${cost}`);
  } else if (body.errors.length === 0) faults.push("there are no errors in errors");
  for (const { message, extensions: { code, status: said } = {} } of body.errors ?? []) {
    if (typeof message !== "string" || message === "") faults.push("an error has no message");
    if (!codes.has(`${code}`)) faults.push(`${code} is no code there is`);
    if (Number(said) >= 500) faults.push(`5xx inside an answer: ${code}`);
    if (status !== 200 && (said !== status || body.data !== undefined))
      faults.push(`an error says ${said} in a ${status}`);
    if (typeof said !== "number" || said < 400) faults.push(`an error has the status ${said}`);
  }
  if (!statusesOfGraphql.includes(status) && status < 500) faults.push(`${status} is no status of this API`);
  return faults;
}

const statusesOfGraphql = [200, 400, 401, 405, 406, 413, 415, 429];
