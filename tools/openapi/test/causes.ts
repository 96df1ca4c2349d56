import { type HttpAnswer, type HttpClient, openRawClient, type RequestOptions } from "@petstore/harness/network";
import type { StoreDatabase } from "@petstore/test-store/store-database";

interface Request extends RequestOptions {
  readonly method: string;
  readonly path: string;
}

/** Two processes of the service over one database. */
export interface Fixture {
  readonly client: HttpClient;
  /** A client of the process whose clock is after the removal date. */
  readonly laterClient: HttpClient;
  readonly database: StoreDatabase;
  readonly key: string;
  readonly expiredKey: string;
  readonly revokedKey: string;
}

/** Causes one documented answer of an operation, by changing its valid request. */
type Cause = (fixture: Fixture, request: Request) => Promise<HttpAnswer>;

export const validRequests: Readonly<Record<string, Request>> = {
  listPets: { method: "GET", path: "/v1/pets?limit=1&status=available" },
  createPet: { method: "POST", path: "/v1/pets", body: '{"name":"Ada","categoryId":9223372036854775807}' },
  getPet: { method: "GET", path: "/v1/pets/1" },
};

/** The cause of a success and of each code. The test fails for a documented code without a cause. */
export const causes: Readonly<Record<string, Cause>> = {
  success: (fixture, request) => call(fixture.client, request, fixture.key),
  MALFORMED_REQUEST: (fixture, request) => call(fixture.client, withHeaders(request, { host: "a b" }), fixture.key),
  API_KEY_MISSING: (fixture, request) => call(fixture.client, request),
  API_KEY_INVALID: (fixture, request) => call(fixture.client, request, "pets_live_nonsense"),
  API_KEY_EXPIRED: (fixture, request) => call(fixture.client, request, fixture.expiredKey),
  API_KEY_REVOKED: (fixture, request) => call(fixture.client, request, fixture.revokedKey),
  NOT_ACCEPTABLE: (fixture, request) =>
    call(fixture.client, withHeaders(request, { accept: "text/html" }), fixture.key),
  HEADERS_TOO_LARGE: (fixture, request) =>
    call(fixture.client, withHeaders(request, { x: Array<string>(201).fill("") }), fixture.key),
  REQUEST_TIMEOUT: ({ client }, { method, path }) => sendHalf(client, `${method} ${path} HTTP/1.1\r\nHost: a\r\n`),
  RATE_LIMIT_EXCEEDED: (fixture, request) => callUntilRefused(fixture, request, { perMinute: 1, perDay: 1_000 }),
  DAILY_QUOTA_EXCEEDED: (fixture, request) => callUntilRefused(fixture, request, { perMinute: 1_000, perDay: 1 }),
  API_KEY_BANNED: async (fixture, request) => {
    const { key } = await fixture.database.issueKey({ customLimits: { perMinute: 1_000, perDay: 1 } });
    return callUntil(fixture.client, request, key, ({ code }) => code === "API_KEY_BANNED");
  },
  INTERNAL_ERROR: (fixture, request) =>
    during(fixture, ["alter table pets rename to renamed_pets"], ["alter table renamed_pets rename to pets"], request),
  SERVICE_UNAVAILABLE: (fixture, request) =>
    during(fixture, ["begin", "lock table pets in access exclusive mode"], ["rollback"], request),
  VALIDATION_FAILED: (fixture, request) =>
    call(
      fixture.client,
      request.body ? { ...request, body: "{}" } : { ...request, path: "/v1/pets?limit=0" },
      fixture.key,
    ),
  INVALID_CURSOR: (fixture, request) => call(fixture.client, { ...request, path: "/v1/pets?cursor=x" }, fixture.key),
  INVALID_JSON: (fixture, request) => call(fixture.client, { ...request, body: "{" }, fixture.key),
  PAYLOAD_TOO_LARGE: (fixture, request) => call(fixture.client, { ...request, body: " ".repeat(65_537) }, fixture.key),
  UNSUPPORTED_MEDIA_TYPE: (fixture, request) =>
    call(fixture.client, withHeaders(request, { "content-type": "text/plain" }), fixture.key),
  IDEMPOTENCY_IN_PROGRESS: async (fixture, request) => {
    const hold = `insert into idempotency_keys select id, 'held', '', 1, now() from accounts`;
    return during(fixture, ["begin", hold], ["rollback"], withHeaders(request, { "idempotency-key": "held" }));
  },
  IDEMPOTENCY_KEY_REUSED: async (fixture, request) => {
    const once = withHeaders(request, { "idempotency-key": "reused" });
    await call(fixture.client, once, fixture.key);
    return call(fixture.client, { ...once, body: '{"name":"Ina","categoryId":1}' }, fixture.key);
  },
  PET_NOT_FOUND: (fixture, request) => call(fixture.client, { ...request, path: "/v1/pets/0" }, fixture.key),
  ROUTE_NOT_FOUND: (fixture, request) => call(fixture.client, { ...request, path: "/v1/pets/%zz" }, fixture.key),
  ENDPOINT_REMOVED: (fixture, request) => call(fixture.laterClient, request, fixture.key),
};

/** Successes with optional parts: a next page, a replay, the ends of int64. */
export async function otherSuccesses({ client, key }: Fixture): Promise<readonly (readonly [string, HttpAnswer])[]> {
  const { createPet, listPets } = validRequests as Record<"createPet" | "listPets", Request>;
  const once = withHeaders(createPet, { "idempotency-key": '"once"', "x-request-id": "checkout-4711" });
  const created = [await call(client, once, key), await call(client, once, key)];
  const lowest = {
    ...createPet,
    body: '{"name":"\u00e9\ud83d\udc3e","categoryId":-9223372036854775808,"status":"sold"}',
  };
  const paths = ["/v1/pets", "/v1/pets?limit=100", "/v1/pets?status=pending", "/v1/pets?limit=1"];
  const listed = await Promise.all(paths.map((path) => call(client, { ...listPets, path }, key)));
  return [
    ...[...created, await call(client, lowest, key)].map((answer) => ["createPet", answer] as const),
    ...listed.map((answer) => ["listPets", answer] as const),
  ];
}

function call(client: HttpClient, { method, path, ...options }: Request, key?: string): Promise<HttpAnswer> {
  return client.send(method, path, { ...options, ...(key !== undefined && { key }) });
}

function withHeaders(request: Request, headers: Request["headers"]): Request {
  return { ...request, headers: { ...request.headers, ...headers } };
}

async function callUntilRefused(
  { client, database }: Fixture,
  request: Request,
  customLimits: { readonly perMinute: number; readonly perDay: number },
): Promise<HttpAnswer> {
  const { key } = await database.issueKey({ customLimits });
  return callUntil(client, request, key, ({ status }) => status === 429);
}

/** More attempts than needed, because a window can end between two calls. */
async function callUntil(
  client: HttpClient,
  request: Request,
  key: string,
  isIt: (answer: HttpAnswer) => boolean,
): Promise<HttpAnswer> {
  let answer = await call(client, request, key);
  for (let attempt = 0; attempt < 6 && !isIt(answer); attempt++) {
    // A refusal in the same millisecond as the first one is no strike yet.
    await new Promise((resolve) => setTimeout(resolve, 5));
    answer = await call(client, request, key);
  }
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
    return await call(client, request, key);
  } finally {
    for (const sql of after) await database.execute(sql);
  }
}

/** Never completes the request, so the answer comes at the timeout of the service. */
async function sendHalf({ origin }: HttpClient, half: string): Promise<HttpAnswer> {
  using connection = openRawClient(Number(new URL(origin).port));
  connection.write(half);
  const [answer] = await connection.received(1);
  if (answer === undefined) throw new Error("The service sent no answer");
  return answer;
}
