import type { CustomLimits } from "@petstore/core";
import { type HttpAnswer, type HttpClient, openRawClient, type RequestOptions } from "@petstore/harness/network";
import type { IssueOptions, StoreDatabase } from "../src/store-database.js";

export interface Request extends RequestOptions {
  readonly method: string;
  readonly path: string;
}

export interface Fixture {
  readonly client: HttpClient;
  /** A client of a second process over the same database, whose clock is after the removal date. */
  readonly laterClient: HttpClient;
  readonly database: StoreDatabase;
  readonly key: string;
}

/** Causes one documented response of an operation. The valid request of the operation has no key. */
type Cause = (fixture: Fixture, request: Request) => Promise<HttpAnswer>;

export const validRequests: Readonly<Record<string, Request>> = {
  listPets: { method: "GET", path: "/v1/pets?limit=1&status=available" },
  createPet: { method: "POST", path: "/v1/pets", body: '{"name":"Ada","categoryId":9223372036854775807}' },
  getPet: { method: "GET", path: "/v1/pets/1" },
};

/** The cause of a success and of each code. */
export const causes: Readonly<Record<string, Cause>> = {
  success: sendWith({}),
  ACCOUNT_SUSPENDED: sendWithKey({ isSuspended: true }),
  API_KEY_BANNED: sendUntil("API_KEY_BANNED", { perMinute: 1_000, perDay: 1 }),
  API_KEY_EXPIRED: sendWithKey({ expiresAt: new Date(0) }),
  API_KEY_INVALID: sendWith({ key: "pets_live_nonsense" }),
  API_KEY_MISSING: ({ client }, request) => send(client, request),
  API_KEY_REVOKED: sendWithKey({ isRevoked: true }),
  DAILY_QUOTA_EXCEEDED: sendUntil("DAILY_QUOTA_EXCEEDED", { perMinute: 1_000, perDay: 1 }),
  ENDPOINT_REMOVED: ({ laterClient, key }, request) => send(laterClient, { ...request, key }),
  HEADERS_TOO_LARGE: sendWith({ headers: { x: Array<string>(201).fill("") } }),
  IDEMPOTENCY_IN_PROGRESS: sendDuring(
    ["begin", "insert into idempotency_keys select id, 'held', '', 1, now() from accounts"],
    "rollback",
    { headers: { "idempotency-key": "held" } },
  ),
  IDEMPOTENCY_KEY_REUSED: async ({ client, key }, request) => {
    const once = { ...request, key, headers: { "idempotency-key": "reused" } };
    await send(client, once);
    return send(client, { ...once, body: '{"name":"Ina","categoryId":1}' });
  },
  INSUFFICIENT_SCOPE: (fixture, request) =>
    sendWithKey({ scope: request.method === "POST" ? "read" : "write" })(fixture, request),
  INTERNAL_ERROR: sendDuring(["alter table pets rename to renamed_pets"], "alter table renamed_pets rename to pets"),
  INVALID_CURSOR: sendWith({ path: "/v1/pets?cursor=x" }),
  INVALID_JSON: sendWith({ body: "{" }),
  MALFORMED_REQUEST: sendWith({ headers: { host: "a b" } }),
  NOT_ACCEPTABLE: sendWith({ headers: { accept: "text/html" } }),
  PAYLOAD_TOO_LARGE: sendWith({ body: " ".repeat(65_537) }),
  PET_NOT_FOUND: sendWith({ path: "/v1/pets/0" }),
  RATE_LIMIT_EXCEEDED: sendUntil("RATE_LIMIT_EXCEEDED", { perMinute: 1, perDay: 1_000 }),
  REQUEST_TIMEOUT: ({ client }, { method, path }) => sendHalf(client, `${method} ${path} HTTP/1.1\r\nHost: a\r\n`),
  ROUTE_NOT_FOUND: sendWith({ path: "/v1/pets/%zz" }),
  SERVICE_UNAVAILABLE: sendDuring(["begin", "lock table pets in access exclusive mode"], "rollback"),
  UNSUPPORTED_MEDIA_TYPE: sendWith({ headers: { "content-type": "text/plain" } }),
  VALIDATION_FAILED: (fixture, request) =>
    sendWith(request.body ? { body: "{}" } : { path: "/v1/pets?limit=0" })(fixture, request),
};

function sendWith(change: Partial<Request>): Cause {
  return ({ client, key }, request) => send(client, { ...request, key, ...change });
}

function sendWithKey(options: IssueOptions): Cause {
  return async ({ client, database }, request) => {
    const { key } = await database.issueKey(options);
    return send(client, { ...request, key });
  };
}

function send(client: HttpClient, { method, path, ...options }: Request): Promise<HttpAnswer> {
  return client.send(method, path, options);
}

/** Repeats the request with a new account until the code is the answer. A window may end between two calls. */
function sendUntil(expected: string, customLimits: CustomLimits): Cause {
  return async ({ client, database }, request) => {
    const { key } = await database.issueKey({ customLimits });
    let answer = await send(client, { ...request, key });
    // A refusal in the millisecond of the first refusal is no strike.
    for (let attempt = 0; attempt < 100 && answer.code !== expected; attempt++)
      answer = await send(client, { ...request, key });
    return answer;
  };
}

/** Sends the request with a valid key between these statements. */
function sendDuring(before: readonly string[], after: string, change: Partial<Request> = {}): Cause {
  return async (fixture, request) => {
    for (const sql of before) await fixture.database.execute(sql);
    try {
      return await sendWith(change)(fixture, request);
    } finally {
      await fixture.database.execute(after);
    }
  };
}

/** Never completes the request, so the service answers at its timeout. */
async function sendHalf({ origin }: HttpClient, half: string): Promise<HttpAnswer> {
  using connection = openRawClient(Number(new URL(origin).port));
  connection.write(half);
  const [answer] = await connection.received(1);
  if (answer === undefined) throw new Error("The service sent no answer");
  return answer;
}
