import { type Answer, openHttpClient, type RequestOptions } from "@petstore/harness/network";
import { createResponseCheck, type OpenApi, type ResponseCheck } from "@petstore/harness/responses";
import type { Pet } from "../conformance/apis/api.js";
import type { KeyKind } from "./arbitraries/headers.js";
import type { RequestDocument } from "./arbitraries/rest-requests.js";
import { type ApiName, createResponseFaults } from "./response-faults.js";
import type { FuzzServices } from "./services.js";

export interface FuzzRequest extends Omit<RequestOptions, "key" | "signal"> {
  readonly api: ApiName;
  readonly method: string;
  readonly path: string;
}

/** The requests and faults of one run of a property. */
export interface TestCase {
  /** Checks the response. Rejects when there is none. */
  send(request: FuzzRequest): Promise<Answer>;
  addFault(fault: string): void;
}

/** Shared by the properties of one test file. Disposing closes the connections. */
export interface Session extends Disposable {
  readonly document: OpenApi & RequestDocument;
  readonly responseCheck: ResponseCheck;
  readonly keys: Readonly<Record<KeyKind, string>>;
  /** The acknowledged pets by their ids. */
  readonly pets: Map<string, Pet>;
  /** Requests so far. */
  readonly sent: Readonly<Record<ApiName, number>>;
  /** Every status with a code that an API has answered. */
  readonly answers: Readonly<Record<ApiName, ReadonlySet<string>>>;
  /** Rejects with every fault and every request of the test case, if there is a fault. */
  run(test: (testCase: TestCase) => Promise<void>): Promise<void>;
}

/** A request without an answer after this time hangs, on a busy machine too. */
const answerTimeoutMs = 60_000;

/** @param change plants a fault in a response, to prove that it is found */
export async function openSession(
  { store, keys }: FuzzServices,
  change: (request: FuzzRequest, answer: Answer) => Answer = (_request, answer) => answer,
): Promise<Session> {
  const clients = { rest: openHttpClient(store.originOf("rest")), graphql: openHttpClient(store.originOf("graphql")) };
  const document = (await (await fetch(`${clients.rest.origin}/openapi.json`)).json()) as Session["document"];
  const responseCheck = createResponseCheck(document);
  const responseFaults = createResponseFaults(responseCheck, Object.values(keys));
  const sent = { rest: 0, graphql: 0 };
  const answers = { rest: new Set<string>(), graphql: new Set<string>() };

  async function send(request: FuzzRequest): Promise<Answer> {
    const { api, method, path, ...options } = request;
    sent[api] += 1;
    const answer = change(
      request,
      await clients[api].send(method, path, { ...options, signal: AbortSignal.timeout(answerTimeoutMs) }),
    );
    answers[api].add(`${answer.status} ${/"code":"(\w+)"/.exec(answer.text)?.[1]}`);
    return answer;
  }

  return {
    document,
    responseCheck,
    keys,
    pets: new Map(),
    sent,
    answers,
    async run(test) {
      const requests: FuzzRequest[] = [];
      const faults: string[] = [];
      const testCase: TestCase = {
        addFault: (fault) => void faults.push(fault),
        async send(request) {
          requests.push(request);
          const answer = await send(request);
          faults.push(...responseFaults(request.api, request.method, request.path, answer));
          return answer;
        },
      };
      await test(testCase).catch((error: unknown) => faults.push(`error: ${error}`));
      if (faults.length > 0) throw new Error([...faults, ...requests.map(describeRequest)].join("\n"));
    },
    [Symbol.dispose]() {
      for (const client of [clients.rest, clients.graphql]) client[Symbol.dispose]();
    },
  };
}

/** One line, without the keys. Bytes that are not UTF-8 are in base64. */
function describeRequest({ api, method, path, headers, body }: FuzzRequest): string {
  const bytes = Buffer.from(body ?? "");
  const isText = Buffer.from(bytes.toString()).equals(bytes);
  const content = isText ? JSON.stringify(bytes.toString()) : `base64 ${bytes.toString("base64")}`;
  return `${api}: ${method} ${path} ${JSON.stringify(headers)} ${content}`.replaceAll(/pets_(live|test)_\w+/g, "<key>");
}
