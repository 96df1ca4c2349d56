// While PostgreSQL is unavailable, every interface gives the same responses.

import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { openPostgresServer, type PostgresServer } from "@petstore/harness/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Api, Call, Reply } from "../apis/api.js";
import { comparableHeaders } from "../apis/comparable-headers.js";
import { openApis } from "../apis/open-apis.js";
import { newAddress, openRunningStore, type RunningStore, startWithinMinute } from "../running-store.js";

const rex = '{"name":"Rex","categoryId":1}';
const list: Call["operation"] = { kind: "list", query: {} };
const create: Call["operation"] = { kind: "create", input: rex };

interface Case {
  readonly what: string;
  readonly code: string;
  readonly call: Pick<Call, "operation" | "headers" | "method" | "body">;
  readonly key?: "none" | "malformed" | "unknown";
}

const cases: readonly Case[] = [
  { what: "a list", code: "SERVICE_UNAVAILABLE", call: { operation: list } },
  { what: "a create", code: "SERVICE_UNAVAILABLE", call: { operation: create } },
  {
    what: "a create with an idempotency key",
    code: "SERVICE_UNAVAILABLE",
    call: { operation: { ...create, idempotencyKey: "once" } },
  },
  {
    what: "a refused parameter",
    code: "VALIDATION_FAILED",
    call: { operation: { kind: "list", query: { limit: "0" } } },
  },
  { what: "a refused pet", code: "VALIDATION_FAILED", call: { operation: { kind: "create", input: "{}" } } },
  { what: "a body that is not JSON", code: "INVALID_JSON", call: { operation: create, body: "{" } },
  {
    what: "another media type",
    code: "UNSUPPORTED_MEDIA_TYPE",
    call: { operation: create, headers: { "content-type": "text/plain" } },
  },
  { what: "another method", code: "METHOD_NOT_ALLOWED", call: { operation: list, method: "DELETE" } },
  { what: "no key", code: "API_KEY_MISSING", call: { operation: list }, key: "none" },
  { what: "a malformed key", code: "API_KEY_INVALID", call: { operation: list }, key: "malformed" },
  { what: "a key that could not be checked", code: "SERVICE_UNAVAILABLE", call: { operation: list }, key: "unknown" },
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
    for (const api of apis) expect((await send(api, { operation: list }, keys.get(api)))?.outcome.kind).toBe("success");
    await postgres.kill();
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  it.each(cases)("$what: every interface responds $code", async ({ code, call, key: kind }) => {
    let reference: Reply | undefined;
    for (const api of apis) {
      const key = kind === undefined ? keys.get(api) : otherKeys[kind]();
      const reply = await send(api, call, key);
      if (reply === undefined) continue;
      expect(reply.outcome, api.name).toMatchObject({ kind: "failure", code });
      reference ??= reply;
      expect(reply.outcome, api.name).toEqual(reference.outcome);
      expect(withoutCounts(reply), api.name).toEqual(withoutCounts(reference));
    }
    expect(reference).toBeDefined();
  });

  it("a request that needs PostgreSQL costs nothing", async () => {
    for (const api of apis) {
      const replies = [
        await send(api, { operation: list }, keys.get(api)),
        await send(api, { operation: list }, keys.get(api)),
      ];
      const remaining = replies.map((reply) => reply?.headers["x-ratelimit-remaining"]);
      expect(remaining[0], api.name).toBe(remaining[1]);
    }
  });

  it("every interface works again after it", async () => {
    await postgres.restart();
    for (const api of apis) {
      const outcome = async () => (await send(api, { operation: list }, keys.get(api)))?.outcome.kind;
      await expect.poll(outcome, { message: api.name }).toBe("success");
    }
  });
});

const otherKeys: Readonly<Record<"none" | "malformed" | "unknown", () => string | undefined>> = {
  none: () => undefined,
  malformed: () => "pets_test_nonsense",
  unknown: () => mintApiKey("test", randomBytes),
};

function send(api: Api, call: Case["call"], key: string | undefined): Promise<Reply | undefined> {
  return api.send({ ...call, authorization: key === undefined ? [] : [`Bearer ${key}`], address: newAddress() });
}

/** An interface that cannot send each request has used fewer units. */
function withoutCounts(reply: Reply): Readonly<Record<string, string>> {
  const { "x-ratelimit-remaining": _remaining, ratelimit: _both, ...others } = comparableHeaders(reply);
  return others;
}
