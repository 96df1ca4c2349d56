import { create, created, get, list, type Problem, type Request, type Row, refused, rowsOf, succeeds } from "../row.js";
import { minute } from "./quotas.js";

const realm = 'Bearer realm="petstore"';
const suspended = forbidden("ACCOUNT_SUSPENDED", "The account of the API key is suspended.", realm);

function needsScope(scope: string): Problem {
  const message = `This operation needs an API key whose scope includes ${scope}.`;
  return forbidden("INSUFFICIENT_SCOPE", message, `${realm}, error="insufficient_scope"`);
}

function forbidden(code: Problem["code"], message: string, challenge: string): Problem {
  return refused(403, code, message, { "www-authenticate": challenge });
}

const reads: Readonly<Record<string, Request>> = {
  list: list(),
  "an invalid list": list({ limit: "0" }),
  get: get(({ pets }) => pets[0]?.id ?? ""),
};
const writes: Readonly<Record<string, Request>> = {
  create: create(),
  "an invalid create": create('{"name":"","categoryId":1}'),
  "a create with an idempotency key": create(undefined, { idempotencyKey: "once" }),
};

export const permissionRows: readonly Row[] = [
  { title: "a read key lists pets", key: "read", send: list(), expected: succeeds },
  { title: "a write key creates a pet", key: "write", send: create(), expected: created({}) },
  ...rowsOf("a read key creates nothing", writes, (send) => ({ key: "read", send, expected: needsScope("write") })),
  ...rowsOf("a write key reads nothing", reads, (send) => ({ key: "write", send, expected: needsScope("read") })),
  ...rowsOf("a suspended account is refused before its request is read", { ...reads, ...writes }, (send) => ({
    key: "suspended",
    send,
    expected: suspended,
  })),
  ...rowsOf(
    "a request that is refused with 403 costs a unit",
    { suspended: suspended, read: needsScope("write") },
    (problem, key) => ({
      key: key as "suspended" | "read",
      limits: { perMinute: 10, perDay: 100 },
      before: [create(), create()],
      send: create(),
      expected: { ...problem, headers: { ...problem.headers, "x-ratelimit-remaining": "7" } },
    }),
  ),
  {
    title: "the quota of a suspended account is checked first",
    key: "suspended",
    limits: { perMinute: 1, perDay: 100 },
    before: [list()],
    send: list(),
    expected: minute,
  },
];
