// Causes every response that the OpenAPI document describes, and compares it with the document.
import type { CustomLimits } from "@petstore/core";
import { shared } from "@petstore/harness";
import {
  type HttpAnswer,
  type HttpClient,
  openHttpClient,
  openRawClient,
  type RequestOptions,
} from "@petstore/harness/network";
import { startService } from "@petstore/harness/processes";
import { createResponseCheck, type Documented, type OpenApi } from "@petstore/harness/responses";
import type { IssueOptions } from "@petstore/test-store/store-database";
import { expect, it } from "vitest";
import { newAddress, openRunningStore } from "../conformance/running-store.js";
import { restMain } from "../programs.js";

interface Request extends RequestOptions {
  readonly method: string;
  readonly path: string;
}

/** Causes one documented response of an operation. The valid request of the operation has no key. */
type Cause = (request: Request) => Promise<HttpAnswer>;

const environment = {
  BAN_STRIKES: "1",
  BAN_STRIKES_PER_UNIT: "0",
  BAN_GRACE_MS: "0",
  DATABASE_READ_TIMEOUT_MS: "3000",
  DATABASE_WRITE_TIMEOUT_MS: "3000",
};
const { database, serviceOf } = await shared(openRunningStore({ services: ["rest"], environment }));
const service = serviceOf("rest");
const client = openHttpClient(service.origin);
const later = await shared(
  startService({
    main: restMain,
    environment: {
      DATABASE_URL: database.url,
      LOG_LEVEL: "silent",
      ANONYMOUS_REQUESTS_PER_MINUTE: "1000",
      ANONYMOUS_REQUESTS_PER_DAY: "20",
    },
    clockOffsetMs: Date.UTC(2031, 0, 1) - Date.now(),
  }),
);
/** Its service has a clock that is after the removal date, and a low limit a day for requests without a valid key. */
const laterClient = openHttpClient(later.origin);
await database.execute(
  `insert into pets (name, category_id, status) values ('Rex', 1, 'available'), ('Ada', 1, 'available')`,
);
const { key } = await database.issueKey();

const document = (await client.send("GET", "/openapi.json")).json as OpenApi;
const { documented, violations } = createResponseCheck(document);
/** The service waits ten seconds for the rest of a request, so these tests run at the same time. */
const timeouts = documented.filter(({ code }) => code === "REQUEST_TIMEOUT");
/** One after another, because some make the database unavailable. */
const others = documented.filter((response) => !timeouts.includes(response));

const validRequests: Readonly<Record<string, Request>> = {
  listPets: { method: "GET", path: "/v1/pets?limit=1&status=available" },
  createPet: { method: "POST", path: "/v1/pets", body: '{"name":"Ada","categoryId":9223372036854775807}' },
  getPet: { method: "GET", path: "/v1/pets/1" },
  getRateLimit: { method: "GET", path: "/rate_limit" },
  getUsageHistory: { method: "GET", path: "/usage/history" },
};

/** The cause of a success, of a response that has not changed, and of each code. */
const causes: Readonly<Record<string, Cause>> = {
  success: sendWith({}),
  unchanged: async (request) => {
    const { headers } = await send({ ...request, key });
    return send({ ...request, key, headers: { "if-none-match": headers.etag ?? "" } });
  },
  ACCOUNT_SUSPENDED: sendWithKey({ isSuspended: true }),
  API_KEY_BANNED: sendUntil("API_KEY_BANNED", { perMinute: 1_000, perDay: 1 }),
  API_KEY_EXPIRED: sendWithKey({ expiresAt: new Date(0) }),
  API_KEY_INVALID: sendWith({ key: "pets_live_nonsense" }),
  API_KEY_MISSING: (request) => send(request),
  API_KEY_REVOKED: sendWithKey({ revokedAt: new Date(0) }),
  DAILY_QUOTA_EXCEEDED: sendUntil("DAILY_QUOTA_EXCEEDED", { perMinute: 1_000, perDay: 1 }),
  ENDPOINT_REMOVED: (request) => send({ ...request, key }, laterClient),
  HEADERS_TOO_LARGE: sendWith({ headers: { x: Array<string>(201).fill("") } }),
  IDEMPOTENCY_IN_PROGRESS: sendDuring(
    ["begin", "insert into idempotency_keys select id, 'held', '', 1, now() from accounts"],
    "rollback",
    { headers: { "idempotency-key": "held" } },
  ),
  IDEMPOTENCY_KEY_REUSED: async (request) => {
    const once = { ...request, key, headers: { "idempotency-key": "reused" } };
    await send(once);
    return send({ ...once, body: '{"name":"Ina","categoryId":1}' });
  },
  INSUFFICIENT_SCOPE: (request) => sendWithKey({ scope: request.method === "POST" ? "read" : "write" })(request),
  INTERNAL_ERROR: sendDuring(["alter table pets rename to renamed_pets"], "alter table renamed_pets rename to pets"),
  INVALID_CURSOR: sendWith({ path: "/v1/pets?cursor=x" }),
  INVALID_JSON: sendWith({ body: "{" }),
  MALFORMED_REQUEST: sendWith({ headers: { host: "a b" } }),
  NOT_ACCEPTABLE: sendWith({ headers: { accept: "text/html" } }),
  PAYLOAD_TOO_LARGE: sendWith({ body: " ".repeat(65_537) }),
  PET_NOT_FOUND: sendWith({ path: "/v1/pets/0" }),
  RATE_LIMIT_EXCEEDED: sendUntil("RATE_LIMIT_EXCEEDED", { perMinute: 1, perDay: 1_000 }),
  REQUEST_TIMEOUT: ({ method, path }) => sendHalf(`${method} ${path} HTTP/1.1\r\nHost: a\r\n`),
  ROUTE_NOT_FOUND: sendWith({ path: "/v1/pets/%zz" }),
  SERVICE_UNAVAILABLE: sendDuring(["begin", "lock table pets in access exclusive mode"], "rollback"),
  UNSUPPORTED_MEDIA_TYPE: sendWith({ headers: { "content-type": "text/plain" } }),
  VALIDATION_FAILED: (request) => sendWith(request.body ? { body: "{}" } : { path: "/v1/pets?limit=0" })(request),
};

/** These operations read no pets, and cost nothing. A limit of the address refuses them. */
const freeOperations = ["getRateLimit", "getUsageHistory"];
const causesOfFreeOperations: Readonly<Record<string, Cause>> = {
  DAILY_QUOTA_EXCEEDED: sendWithoutKeyUntil("DAILY_QUOTA_EXCEEDED", laterClient),
  INTERNAL_ERROR: sendNewKeyDuring(
    ["alter table api_keys rename to renamed_keys"],
    "alter table renamed_keys rename to api_keys",
  ),
  // A key can read the usage history once a second.
  NOT_ACCEPTABLE: (request) => sendWithKey({})({ ...request, headers: { accept: "text/html" } }),
  RATE_LIMIT_EXCEEDED: sendWithoutKeyUntil("RATE_LIMIT_EXCEEDED", client),
  SERVICE_UNAVAILABLE: sendNewKeyDuring(["begin", "lock table api_keys in access exclusive mode"], "rollback"),
};

it.concurrent.for(timeouts.map(titled))("%s", ([_title, response]) => expectDocumented(response));
it.for(others.map(titled))("%s", ([_title, response]) => expectDocumented(response));

function titled(response: Documented): [string, Documented] {
  const { operationId, status, code = "" } = response;
  return [`${operationId} can answer as documented: ${status} ${code}`, response];
}

async function expectDocumented({ operationId, status, code }: Documented): Promise<void> {
  const name = code ?? (status === 304 ? "unchanged" : "success");
  const cause = (freeOperations.includes(operationId) ? causesOfFreeOperations[name] : undefined) ?? causes[name];
  const request = validRequests[operationId];
  if (cause === undefined || request === undefined) throw new Error("No request of this test causes it");
  const answer = await cause(request);
  expect(answer).toMatchObject({ status, code });
  expect(violations(operationId, answer)).toEqual([]);
}

function send({ method, path, ...options }: Request, to = client): Promise<HttpAnswer> {
  return to.send(method, path, options);
}

function sendWith(change: Partial<Request>): Cause {
  return (request) => send({ ...request, key, ...change });
}

function sendWithKey(options: IssueOptions): Cause {
  return async (request) => send({ ...request, key: (await database.issueKey(options)).key });
}

/** Repeats the request with a new account until the code is the answer. A window may end between two calls. */
function sendUntil(expected: string, customLimits: CustomLimits): Cause {
  return async (request) => {
    const limited = { ...request, key: (await database.issueKey({ customLimits })).key };
    let answer = await send(limited);
    // A refusal in the millisecond of the first refusal is no strike.
    for (let attempt = 0; attempt < 100 && answer.code !== expected; attempt++) answer = await send(limited);
    return answer;
  };
}

/** Repeats the request from a new address until the code is the answer. */
function sendWithoutKeyUntil(expected: string, to: HttpClient): Cause {
  return async (request) => {
    const headers = { "x-forwarded-for": newAddress() };
    let answer = await send({ ...request, headers }, to);
    // 300 a minute, and a minute may end between two calls.
    for (let attempt = 0; attempt < 1_000 && answer.code !== expected; attempt++) {
      answer = await send({ ...request, headers }, to);
    }
    return answer;
  };
}

/** Sends the request between these statements with a key that the service has not read. */
function sendNewKeyDuring(before: readonly string[], after: string): Cause {
  return async (request) => sendDuring(before, after, { key: (await database.issueKey()).key })(request);
}

/** Sends the request with a valid key between these statements. The last page of a list is never in memory. */
function sendDuring(before: readonly string[], after: string, change: Partial<Request> = {}): Cause {
  return async (sent) => {
    const request = sent.path.startsWith("/v1/pets?") ? { ...sent, path: "/v1/pets" } : sent;
    for (const sql of before) await database.execute(sql);
    try {
      return await sendWith(change)(request);
    } finally {
      await database.execute(after);
    }
  };
}

/** Never completes the request, so the service answers at its timeout. */
async function sendHalf(half: string): Promise<HttpAnswer> {
  using connection = openRawClient(service.port);
  connection.write(half);
  const [answer] = await connection.received(1);
  if (answer === undefined) throw new Error("The service sent no answer");
  return answer;
}
