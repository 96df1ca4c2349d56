/** Lists and creates that both APIs can be asked for. */
import fc from "fast-check";
import { quoted, weighted, wellFormedString } from "./json.js";
import { cursor, type NewPet, newPet } from "./pets.js";

export type Operation = ListOperation | CreateOperation;

export interface ListOperation {
  readonly kind: "list";
  /** JSON text by name. */
  readonly query: Readonly<Record<string, string>>;
  /** GraphQL lists by `petsConnection` instead of `pets`. */
  readonly isConnection: boolean;
}

export interface CreateOperation {
  readonly kind: "create";
  readonly newPet: NewPet;
  /** The request adds a prefix of 13 characters that no other create has. */
  readonly idempotencyKey: string | undefined;
}

// A header value has no blanks around it, and a quote in front would begin the notation of RFC 8941.
const idempotencyKey = fc.oneof(
  fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,30}$/),
  fc.integer({ min: 235, max: 245 }).map((length) => "k".repeat(length)),
  fc.constant("a b"),
);

const create: fc.Arbitrary<CreateOperation> = fc.record({
  kind: fc.constant("create"),
  newPet,
  idempotencyKey: fc.option(idempotencyKey, { freq: 2, nil: undefined }),
});

const oddLimits = ["0", "101", "2147483647", "2147483648", "1.5", "9007199254740993"];
/** A query string has no types, so numbers have the one spelling of both notations, and strings are not digits. */
const limit = weighted(
  [4, fc.integer({ min: 1, max: 100 }).map(String)],
  [1, fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String)],
  [1, fc.constantFrom(...oddLimits)],
  [1, quoted(wellFormedString.filter((text) => !/^\d+$/.test(text)))],
);
const status = quoted(weighted([4, fc.constantFrom("available", "pending", "sold")], [1, wellFormedString]));

const list: fc.Arbitrary<ListOperation> = fc.record({
  kind: fc.constant("list"),
  query: fc
    .record({ limit, status, cursor: quoted(fc.oneof(cursor, wellFormedString)) }, { requiredKeys: [] })
    .map((query) => ({ ...query }) as ListOperation["query"]),
  isConnection: fc.boolean(),
});

export const operation: fc.Arbitrary<Operation> = weighted<Operation>([3, create], [2, list]);
