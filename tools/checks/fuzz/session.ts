/** Both services, and sessions that send requests to them. */
import { type Answer, openHttpClient, type RequestOptions } from "@petstore/harness/network";
import { openTogether } from "@petstore/harness/processes";
import { createResponseCheck, type OpenApi } from "@petstore/harness/responses";
import type { Pet } from "../conformance/apis/api.js";
import { type ApiName, createResponseFaults } from "../conformance/apis/response-faults.js";
import { openRunningStore } from "../conformance/running-store.js";
import { unthrottled } from "../faults/environment/services.js";
import type { CallerKey } from "./arbitraries/headers.js";
import type { RequestDocument } from "./arbitraries/rest-requests.js";

export interface FuzzRequest extends Omit<RequestOptions, "key" | "signal"> {
  readonly api: ApiName;
  readonly method: string;
  readonly path: string;
}

/** Rejects if there is no response, or if it has a fault. */
export type SendRequest = (request: FuzzRequest) => Promise<Answer>;

export type FuzzStore = Awaited<ReturnType<typeof openFuzzStore>>;

export type Session = ReturnType<typeof createSession>;

const unlimited = 1_000_000_000;
/** 130 of each status, more than the longest page: the first pages of each status stay as they are while pets are added. */
const addFirstPets = `insert into pets (name, category_id, status)
  select 'pet', n, status from generate_series(1, 130) n, unnest(enum_range(null::pet_status)) status order by n`;
/** A request without an answer after this time hangs, on a busy machine too. */
const answerTimeoutMs = 60_000;

/** Both services with the first pets, their clients, and keys of every kind. */
export function openFuzzStore() {
  return openTogether(async (use) => {
    // A response must depend on the request alone, not on the number of requests.
    const { originOf, database, issueKey } = use(await openRunningStore({ environment: unthrottled }));
    await database.execute(addFirstPets);
    const keys = {
      valid: await issueKey("valid", { perMinute: unlimited, perDay: unlimited }),
      smallQuota: await issueKey("valid", { perMinute: 60, perDay: 1_000 }),
      tinyQuota: await issueKey("valid", { perMinute: 3, perDay: unlimited }),
      malformed: await issueKey("malformed"),
      unknown: await issueKey("unknown"),
      revoked: await issueKey("revoked"),
      expired: await issueKey("expired"),
    } satisfies Readonly<Record<CallerKey, string>>;
    const clients = { rest: openHttpClient(originOf("rest")), graphql: openHttpClient(originOf("graphql")) };
    const document = (await clients.rest.send("GET", "/openapi.json")).json as OpenApi & RequestDocument;
    const responseCheck = createResponseCheck(document);
    const responseFaults = createResponseFaults(responseCheck, Object.values(keys));
    return { keys, clients, document, responseCheck, responseFaults };
  });
}

/**
 * Shared by the test cases of one test.
 *
 * @param change plants a fault in a response, to prove that it is found
 */
export function createSession(
  { keys, clients, responseCheck, responseFaults }: FuzzStore,
  change: (request: FuzzRequest, answer: Answer) => Answer = (_request, answer) => answer,
) {
  /** The status and the code of each response. */
  const answers: Record<ApiName, string[]> = { rest: [], graphql: [] };

  return {
    keys,
    responseCheck,
    /** The acknowledged pets by their ids. */
    pets: new Map<string, Pet>(),
    answers,
    /** Runs a test case. Rejects with its first fault and its requests, if there is a fault. */
    async run(test: (send: SendRequest) => Promise<void>): Promise<void> {
      const requests: FuzzRequest[] = [];
      async function send(request: FuzzRequest): Promise<Answer> {
        const { api, method, path, ...options } = request;
        requests.push(request);
        const signal = AbortSignal.timeout(answerTimeoutMs);
        const received = await clients[api].send(method, path, { ...options, signal });
        answers[api].push(`${received.status} ${received.code}`);
        const answer = change(request, received);
        const faults = responseFaults(api, method, path, answer);
        if (faults.length > 0) throw new Error(faults.join("\n"));
        return answer;
      }
      await test(send).catch((error: unknown) => {
        throw new Error([error, ...requests.map(describeRequest)].join("\n"));
      });
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
