import { type HttpAnswer, type HttpClient, openRawClient, type RequestOptions } from "@petstore/harness/network";
import type { IssueOptions, StoreDatabase } from "../src/store-database.js";

export interface Request extends RequestOptions {
  readonly method: string;
  readonly path: string;
}

/** Two processes of the REST service over one database. */
export interface Fixture {
  readonly client: HttpClient;
  /** A client of the process whose clock is after the removal date. */
  readonly laterClient: HttpClient;
  readonly database: StoreDatabase;
  /** A valid key. */
  readonly key: string;
}

/** Causes one documented response of an operation. The valid request of the operation has no key. */
type Cause = (fixture: Fixture, request: Request) => Promise<HttpAnswer>;

/** A valid request for each operation. */
export const validRequests: Readonly<Record<string, Request>> = {
  listPets: { method: "GET", path: "/v1/pets?limit=1&status=available" },
  createPet: { method: "POST", path: "/v1/pets", body: '{"name":"Ada","categoryId":9223372036854775807}' },
  getPet: { method: "GET", path: "/v1/pets/1" },
};

/** The cause of a success and of each code. */
export const causes: Readonly<Record<string, Cause>> = {
  success: sendWith({}),
  ACCOUNT_SUSPENDED: sendWithKey({ isSuspended: true }),
  API_KEY_BANNED: ({ client, database }, request) =>
    sendUntil(client, database, request, { perMinute: 1_000, perDay: 1 }, ({ code }) => code === "API_KEY_BANNED"),
  API_KEY_EXPIRED: sendWithKey({ expiresAt: new Date(0) }),
  API_KEY_INVALID: sendWith({ key: "pets_live_nonsense" }),
  API_KEY_MISSING: ({ client }, request) => send(client, request),
  API_KEY_REVOKED: sendWithKey({ isRevoked: true }),
  DAILY_QUOTA_EXCEEDED: ({ client, database }, request) =>
    sendUntil(client, database, request, { perMinute: 1_000, perDay: 1 }, ({ status }) => status === 429),
  ENDPOINT_REMOVED: ({ laterClient, key }, request) => send(laterClient, { ...request, key }),
  HEADERS_TOO_LARGE: sendWith({ headers: { x: Array<string>(201).fill("") } }),
  IDEMPOTENCY_IN_PROGRESS: (fixture, request) => {
    const hold = `insert into idempotency_keys select id, 'held', '', 1, now() from accounts`;
    return during(fixture, ["begin", hold], ["rollback"], { ...request, headers: { "idempotency-key": "held" } });
  },
  IDEMPOTENCY_KEY_REUSED: async ({ client, key }, request) => {
    const once = { ...request, key, headers: { "idempotency-key": "reused" } };
    await send(client, once);
    return send(client, { ...once, body: '{"name":"Ina","categoryId":1}' });
  },
  INSUFFICIENT_SCOPE: (fixture, request) =>
    sendWithKey({ scope: request.method === "POST" ? "read" : "write" })(fixture, request),
  INTERNAL_ERROR: (fixture, request) =>
    during(fixture, ["alter table pets rename to renamed_pets"], ["alter table renamed_pets rename to pets"], request),
  INVALID_CURSOR: sendWith({ path: "/v1/pets?cursor=x" }),
  INVALID_JSON: sendWith({ body: "{" }),
  MALFORMED_REQUEST: sendWith({ headers: { host: "a b" } }),
  NOT_ACCEPTABLE: sendWith({ headers: { accept: "text/html" } }),
  PAYLOAD_TOO_LARGE: sendWith({ body: " ".repeat(65_537) }),
  PET_NOT_FOUND: sendWith({ path: "/v1/pets/0" }),
  RATE_LIMIT_EXCEEDED: ({ client, database }, request) =>
    sendUntil(client, database, request, { perMinute: 1, perDay: 1_000 }, ({ status }) => status === 429),
  REQUEST_TIMEOUT: ({ client }, { method, path }) => sendHalf(client, `${method} ${path} HTTP/1.1\r\nHost: a\r\n`),
  ROUTE_NOT_FOUND: sendWith({ path: "/v1/pets/%zz" }),
  SERVICE_UNAVAILABLE: (fixture, request) =>
    during(fixture, ["begin", "lock table pets in access exclusive mode"], ["rollback"], request),
  UNSUPPORTED_MEDIA_TYPE: sendWith({ headers: { "content-type": "text/plain" } }),
  VALIDATION_FAILED: (fixture, request) =>
    sendWith(request.body ? { body: "{}" } : { path: "/v1/pets?limit=0" })(fixture, request),
};

/** Sends the request with a valid key and one change. */
function sendWith(change: Partial<Request>): Cause {
  return ({ client, key }, request) => send(client, { ...request, key, ...change });
}

/** Sends the request with a new key. */
function sendWithKey(options: IssueOptions): Cause {
  return async ({ client, database }, request) => {
    const { key } = await database.issueKey(options);
    return send(client, { ...request, key });
  };
}

function send(client: HttpClient, { method, path, ...options }: Request): Promise<HttpAnswer> {
  return client.send(method, path, options);
}

/** Repeats the request with a new account. A window may end between two calls. */
async function sendUntil(
  client: HttpClient,
  database: StoreDatabase,
  request: Request,
  customLimits: { readonly perMinute: number; readonly perDay: number },
  isExpected: (answer: HttpAnswer) => boolean,
): Promise<HttpAnswer> {
  const { key } = await database.issueKey({ customLimits });
  let answer = await send(client, { ...request, key });
  // A refusal in the millisecond of the first refusal is no strike.
  for (let attempt = 0; attempt < 100 && !isExpected(answer); attempt++)
    answer = await send(client, { ...request, key });
  return answer;
}

async function during(
  { client, database, key }: Fixture,
  before: readonly string[],
  after: readonly string[],
  request: Request,
): Promise<HttpAnswer> {
  for (const sql of before) await database.execute(sql);
  try {
    return await send(client, { ...request, key });
  } finally {
    for (const sql of after) await database.execute(sql);
  }
}

/** Never completes the request, so the service answers at its timeout. */
async function sendHalf({ origin }: HttpClient, half: string): Promise<HttpAnswer> {
  using connection = openRawClient(Number(new URL(origin).port));
  connection.write(half);
  const [answer] = await connection.received(1);
  if (answer === undefined) throw new Error("The service sent no answer");
  return answer;
}
