// While PostgreSQL is unavailable, every interface gives the same responses.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Api, Call, Reply } from "../apis/api.js";
import { comparableHeaders } from "../apis/comparable-headers.js";
import { openApis } from "../apis/open-apis.js";
import { newAddress, openRunningStore, type RunningStore, startWithinMinute } from "../running-store.js";

type Request = Omit<Call, "authorization" | "address">;

const rex = '{"name":"Rex","categoryId":1}';
const list: Request = { operation: { kind: "list", query: {} } };
const create: Request = { operation: { kind: "create", input: rex } };

/** Each case has a request, the code of every response to it, and a key if the key is not valid. */
const cases: readonly [what: string, code: string, request: Request, key?: () => string | undefined][] = [
  ["a list", "SERVICE_UNAVAILABLE", list],
  ["a create", "SERVICE_UNAVAILABLE", create],
  [
    "a create with an idempotency key",
    "SERVICE_UNAVAILABLE",
    { operation: { kind: "create", input: rex, idempotencyKey: "once" } },
  ],
  ["a refused parameter", "VALIDATION_FAILED", { operation: { kind: "list", query: { limit: "0" } } }],
  ["a refused pet", "VALIDATION_FAILED", { operation: { kind: "create", input: "{}" } }],
  ["a body that is not JSON", "INVALID_JSON", { ...create, body: "{" }],
  ["another method", "METHOD_NOT_ALLOWED", { ...list, method: "DELETE" }],
  ["no key", "API_KEY_MISSING", list, () => undefined],
  ["a malformed key", "API_KEY_INVALID", list, () => "pets_test_nonsense"],
  ["a key that could not be checked", "SERVICE_UNAVAILABLE", list, () => mintApiKey("live", randomBytes)],
];

describe("while PostgreSQL is unavailable", () => {
  let postgres: PostgresServer;
  let store: RunningStore;
  let apis: readonly Api[];
  /** The key of each interface. */
  const keys = new Map<Api, string>();

  beforeAll(async () => {
    postgres = await openPostgresServer();
    store = await openRunningStore({ databaseUrl: postgres.url });
    apis = await openApis(store);
    for (const api of apis) keys.set(api, (await store.database.issueKey()).key);
    await startWithinMinute(20_000);
    // A service then knows the key for an hour while PostgreSQL is unavailable.
    for (const api of apis) expect((await send(api, list))?.outcome.kind).toBe("success");
    await postgres.kill();
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  it.each(cases)("%s: every interface responds %s", async (_what, code, request, otherKey) => {
    let reference: Reply | undefined;
    for (const api of apis) {
      const reply = await send(api, request, otherKey);
      if (reply === undefined) continue;
      expect(reply.outcome, api.name).toMatchObject({ kind: "failure", code });
      reference ??= reply;
      expect(reply.outcome, api.name).toEqual(reference.outcome);
      expect(withoutCounts(reply), api.name).toEqual(withoutCounts(reference));
    }
    expect(reference).toBeDefined();
  });

  it("every interface works again after it", async () => {
    await postgres.restart();
    for (const api of apis) {
      await expect.poll(async () => (await send(api, list))?.outcome.kind, { message: api.name }).toBe("success");
    }
  });

  function send(api: Api, request: Request, otherKey = () => keys.get(api)): Promise<Reply | undefined> {
    const key = otherKey();
    return api.send({ ...request, authorization: key === undefined ? [] : [`Bearer ${key}`], address: newAddress() });
  }
});

/** An interface that cannot send each request has used fewer units. */
function withoutCounts(reply: Reply): Readonly<Record<string, string>> {
  const { "x-ratelimit-remaining": _remaining, ratelimit: _both, ...others } = comparableHeaders(reply);
  return others;
}
