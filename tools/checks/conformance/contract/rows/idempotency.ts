import { create, created, invalid, type Request, type Row, refused, rex, rowsOf } from "../row.js";

const keyRule = invalid("idempotency key must be 1 to 255 printable ASCII characters");
const reused = refused(422, "IDEMPOTENCY_KEY_REUSED", "The idempotency key was used before, with another body.");
const replayed = { "idempotency-replayed": "true" };
const again = (input: string, options = {}): Request => create(input, { idempotencyKey: "once", ...options });

export const idempotencyRows: readonly Row[] = [
  { title: "a repeated create is replayed", before: [again(rex)], send: again(rex), expected: created({}, replayed) },
  {
    title: "a repeated create is recognised in another notation and order",
    before: [again('{"name":"Ada","categoryId":1000}')],
    send: again(' { "status": "available", "categoryId": 1e3, "name": "\\u0041da" } '),
    expected: created({ name: "Ada", categoryId: "1000" }, replayed),
  },
  ...rowsOf(
    "an idempotency key is refused with another",
    {
      name: '{"name":"Bo","categoryId":1}',
      categoryId: '{"name":"Rex","categoryId":2}',
      status: '{"name":"Rex","categoryId":1,"status":"sold"}',
    },
    (input: string) => ({ before: [again(rex)], send: again(input), expected: reused }),
  ),
  ...rowsOf(
    "a failed create does not use up its key",
    {
      "invalid values": again("{}"),
      "no JSON": again(rex, { body: "{" }),
      "an unacceptable type": again(rex, { headers: { accept: "text/html" } }),
    },
    (failed: Request) => ({
      before: [failed],
      send: again(rex),
      expected: created({}, { "idempotency-replayed": "" }),
    }),
  ),
  ...rowsOf(
    "an idempotency key has 1 to 255 printable ASCII characters",
    { "255 characters": `!~ ${"k".repeat(252)}`, punctuation: "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", "one letter": "k" },
    (idempotencyKey: string) => ({ send: create(rex, { idempotencyKey }), expected: created({}) }),
  ),
  ...rowsOf(
    "another idempotency key is refused",
    { "an empty text": "", "256 characters": "k".repeat(256), "a letter outside of ASCII": "k\u00e9" },
    (idempotencyKey: string) => ({ send: create(rex, { idempotencyKey }), expected: keyRule }),
  ),
];
