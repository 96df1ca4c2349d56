import { keyEnds } from "../../key-ends.js";
import { create, created, get, invalid, list, type Row, refused, rowsOf, succeeds } from "../row.js";
import { banned, minute } from "./quotas.js";

type Exchange = Pick<Row, "limits" | "before" | "send" | "expected">;

const oneAMinute = { perMinute: 1, perDay: 100 };
const successes: Readonly<Record<string, Exchange>> = {
  list: { send: list(), expected: succeeds },
  create: { send: create(), expected: created({}) },
  get: { send: get(({ pets }) => pets[0]?.id ?? ""), expected: succeeds },
};
const refusals: Readonly<Record<string, Exchange>> = {
  "an invalid list": { send: list({ limit: "0" }), expected: invalid("limit must be an integer from 1 to 100") },
  "an unknown id": { send: get("0"), expected: refused(404, "PET_NOT_FOUND", "No pet has this identifier.") },
  "another method": {
    send: list({}, { method: "DELETE" }),
    expected: refused(405, "METHOD_NOT_ALLOWED", "Only GET, HEAD, POST can be used here."),
  },
  "a large body": {
    send: create(undefined, { bodyBytes: 65_537 }),
    expected: refused(413, "PAYLOAD_TOO_LARGE", "The request body exceeds 64 KiB."),
  },
  "a used-up minute": { limits: oneAMinute, before: [list()], send: create(), expected: minute },
  "a ban": { limits: oneAMinute, before: Array.from({ length: 5 }, () => list()), send: list(), expected: banned },
};

/** The rows of the keys that are refused are in `keys.ts`. */
export const keyEndRows: readonly Row[] = [
  ...exchangesOf(
    "every response to a key with 20 days left says when it ends",
    "ending",
    keyEnds.ending.toUTCString(),
    { ...successes, ...refusals },
  ),
  ...exchangesOf(
    "every response to a key with 30 days left says when it ends",
    "ending in 30 days",
    keyEnds["ending in 30 days"].toUTCString(),
    successes,
  ),
  ...exchangesOf("no response to a key with 31 days left says when it ends", "ending in 31 days", "", successes),
  ...exchangesOf("no response to a key without an end announces one", "valid", "", successes),
];

/** `announced` is the value of the header. It is empty if there must be none. */
function exchangesOf(
  promise: string,
  key: NonNullable<Row["key"]>,
  announced: string,
  exchanges: Readonly<Record<string, Exchange>>,
): Row[] {
  return rowsOf(promise, exchanges, ({ expected, ...exchange }: Exchange) => {
    const headers = { ...expected.headers, "api-key-expires": announced };
    return { key, ...exchange, expected: { ...expected, headers } };
  });
}
