import { type IncomingMessage, request as send } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { Answer } from "@petstore/harness/response-check";
import type { RestService } from "./rest-service.js";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

export interface Scene {
  readonly service: RestService;
  /** Another process over the same database, after the removal date. */
  readonly later: RestService;
  readonly key: string;
  readonly expiredKey: string;
  readonly revokedKey: string;
}

/** Brings about one documented answer of an operation, whose sound request it is given. */
type Cause = (scene: Scene, request: Request) => Promise<Answer>;

export const soundRequests: Readonly<Record<string, Request>> = {
  listPets: { method: "GET", path: "/v1/pets?limit=1&status=available" },
  createPet: { method: "POST", path: "/v1/pets", body: '{"name":"Ada","categoryId":9223372036854775807}' },
  getPet: { method: "GET", path: "/v1/pets/1" },
};

/** What brings about a success, and each code. A code that has none here cannot be added unnoticed. */
export const causes: Readonly<Record<string, Cause>> = {
  success: (scene, request) => call(scene.service, request, scene.key),
  MALFORMED_REQUEST: (scene, request) => call(scene.service, withHeaders(request, { host: "a b" }), scene.key),
  API_KEY_MISSING: (scene, request) => call(scene.service, request),
  API_KEY_INVALID: (scene, request) => call(scene.service, request, "pets_live_nonsense"),
  API_KEY_EXPIRED: (scene, request) => call(scene.service, request, scene.expiredKey),
  API_KEY_REVOKED: (scene, request) => call(scene.service, request, scene.revokedKey),
  NOT_ACCEPTABLE: (scene, request) => call(scene.service, withHeaders(request, { accept: "text/html" }), scene.key),
  HEADERS_TOO_LARGE: (scene, request) =>
    call(scene.service, withHeaders(request, { x: Array<string>(201).fill("") }), scene.key),
  REQUEST_TIMEOUT: ({ service }, { method, path }) => sendHalf(service, `${method} ${path} HTTP/1.1\r\nHost: a\r\n`),
  RATE_LIMIT_EXCEEDED: (scene, request) => callUntilRefused(scene, request, { perMinute: 1, perDay: 1_000 }),
  DAILY_QUOTA_EXCEEDED: (scene, request) => callUntilRefused(scene, request, { perMinute: 1_000, perDay: 1 }),
  API_KEY_BANNED: async (scene, request) => {
    const key = await scene.service.issueKey({ customLimits: { perMinute: 1_000, perDay: 1 } });
    return callUntil(scene.service, request, key, (answer) => answer.text.includes("API_KEY_BANNED"));
  },
  INTERNAL_ERROR: (scene, request) =>
    during(scene, ["alter table pets rename to renamed_pets"], ["alter table renamed_pets rename to pets"], request),
  SERVICE_UNAVAILABLE: (scene, request) =>
    during(scene, ["begin", "lock table pets in access exclusive mode"], ["rollback"], request),
  VALIDATION_FAILED: (scene, request) =>
    call(
      scene.service,
      request.body ? { ...request, body: "{}" } : { ...request, path: "/v1/pets?limit=0" },
      scene.key,
    ),
  INVALID_CURSOR: (scene, request) => call(scene.service, { ...request, path: "/v1/pets?cursor=x" }, scene.key),
  INVALID_JSON: (scene, request) => call(scene.service, { ...request, body: "{" }, scene.key),
  PAYLOAD_TOO_LARGE: (scene, request) => call(scene.service, { ...request, body: " ".repeat(65_537) }, scene.key),
  UNSUPPORTED_MEDIA_TYPE: (scene, request) =>
    call(scene.service, withHeaders(request, { "content-type": "text/plain" }), scene.key),
  IDEMPOTENCY_IN_PROGRESS: async (scene, request) => {
    const hold = `insert into idempotency_keys select id, 'held', '', 1, now() from accounts`;
    return during(scene, ["begin", hold], ["rollback"], withHeaders(request, { "idempotency-key": "held" }));
  },
  IDEMPOTENCY_KEY_REUSED: async (scene, request) => {
    const once = withHeaders(request, { "idempotency-key": "reused" });
    await call(scene.service, once, scene.key);
    return call(scene.service, { ...once, body: '{"name":"Ina","categoryId":1}' }, scene.key);
  },
  PET_NOT_FOUND: (scene, request) => call(scene.service, { ...request, path: "/v1/pets/0" }, scene.key),
  ROUTE_NOT_FOUND: (scene, request) => call(scene.service, { ...request, path: "/v1/pets/%zz" }, scene.key),
  ENDPOINT_REMOVED: (scene, request) => call(scene.later, request, scene.key),
};

/** Requests whose answers carry what a plain success does not: a next page, a replay, every digit. */
export async function otherSuccesses({ service, key }: Scene): Promise<readonly (readonly [string, Answer])[]> {
  const { createPet, listPets } = soundRequests as Record<"createPet" | "listPets", Request>;
  const once = withHeaders(createPet, { "idempotency-key": '"once"', "x-request-id": "checkout-4711" });
  const created = [await call(service, once, key), await call(service, once, key)];
  const lowest = {
    ...createPet,
    body: '{"name":"\u00e9\ud83d\udc3e","categoryId":-9223372036854775808,"status":"sold"}',
  };
  const paths = ["/v1/pets", "/v1/pets?limit=100", "/v1/pets?status=pending", "/v1/pets?limit=1"];
  const listed = await Promise.all(paths.map((path) => call(service, { ...listPets, path }, key)));
  return [
    ...[...created, await call(service, lowest, key)].map((answer) => ["createPet", answer] as const),
    ...listed.map((answer) => ["listPets", answer] as const),
  ];
}

async function call(service: RestService, { method, path, headers, body }: Request, key?: string): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    };
    send(`${service.origin}`, { method, path, headers: sent }, resolve).on("error", reject).end(body);
  });
  const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(received), text: await text(response) };
}

function withHeaders(request: Request, headers: Request["headers"]): Request {
  return { ...request, headers: { ...request.headers, ...headers } };
}

async function callUntilRefused(
  { service }: Scene,
  request: Request,
  customLimits: { readonly perMinute: number; readonly perDay: number },
): Promise<Answer> {
  const key = await service.issueKey({ customLimits });
  return callUntil(service, request, key, ({ status }) => status === 429);
}

/** More attempts than needed, because a window can end between two calls. */
async function callUntil(
  service: RestService,
  request: Request,
  key: string,
  isIt: (answer: Answer) => boolean,
): Promise<Answer> {
  let answer = await call(service, request, key);
  for (let attempt = 0; attempt < 6 && !isIt(answer); attempt++) {
    // A refusal in the same millisecond as the first one is no strike yet.
    await new Promise((resolve) => setTimeout(resolve, 5));
    answer = await call(service, request, key);
  }
  return answer;
}

async function during(
  { service, key }: Scene,
  before: readonly string[],
  after: readonly string[],
  request: Request,
): Promise<Answer> {
  for (const sql of before) await service.execute(sql);
  try {
    return await call(service, request, key);
  } finally {
    for (const sql of after) await service.execute(sql);
  }
}

/** A request that never gets whole: the answer comes when the service has waited long enough. */
async function sendHalf({ origin }: RestService, half: string): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write(half);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  const [statusLine = "", ...fields] = head.split("\r\n");
  const headers = fields.map((field) => [field.split(":", 1)[0]?.toLowerCase(), field.replace(/^[^:]*:\s*/, "")]);
  return { status: Number(statusLine.split(" ")[1]), headers: Object.fromEntries(headers), text: body };
}
