/** The lists and the creates that both APIs have, with the bodies of creates and the cursors of lists. */
import fc from "fast-check";
import type { Pet } from "../../conformance/apis/api.js";
import {
  anyJson,
  hostileString,
  int64,
  type Member,
  mostly,
  notations,
  numberText,
  objectText,
  quoted,
  weighted,
  wellFormedString,
} from "./json.js";

export interface NewPet {
  readonly text: string;
  /** The pet of a body whose values have the right types, so that only the name can be wrong, or in REST a null. */
  readonly pet?: Omit<Pet, "id">;
  /** GraphQL takes a status that is null as absent, and REST refuses it. */
  readonly hasNullStatus?: boolean;
}

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

const blank = fc.constantFrom("", "", " ", "\n\t");
const petName = fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }), hostileString);
const petStatus = fc.constantFrom("available", "pending", "sold");
/** An integer in two notations. */
const categoryId = weighted(
  [6, int64.map((value) => ({ digits: `${value}`, json: `${value}` }))],
  [1, fc.constantFrom(...Object.entries(notations)).map(([json, value]) => ({ digits: `${value}`, json }))],
);

const typedPet: fc.Arbitrary<NewPet> = fc
  .record({
    name: petName,
    isEscaped: mostly(false, fc.constant(true), 9),
    categoryId,
    status: fc.option(weighted<string | null>([4, petStatus], [1, fc.constant(null)]), { nil: undefined }),
    blank,
  })
  .map(({ name, isEscaped, categoryId: { digits, json }, status, blank: between }) => {
    const members: Member[] = [
      ["name", isEscaped ? escaped(name) : JSON.stringify(name)],
      ["categoryId", json],
    ];
    if (status !== undefined) members.push(["status", JSON.stringify(status)]);
    return {
      text: objectText(members, between),
      pet: { name, categoryId: digits, status: status ?? "available" },
      hasNullStatus: status === null,
    };
  });

/** With values of any type, in any order, and with missing, unknown and repeated names. */
const anyMember: fc.Arbitrary<Member> = fc.oneof(
  fc.tuple(fc.constant("name"), weighted([5, quoted(petName)], [1, anyJson])),
  // GraphQL accepts an identifier as a string of digits.
  fc.tuple(fc.constant("categoryId"), weighted([5, numberText], [1, quoted(int64.map(String))], [1, anyJson])),
  fc.tuple(fc.constant("status"), weighted([5, quoted(petStatus)], [1, anyJson])),
  fc.tuple(mostly("id", hostileString, 1), anyJson),
);
const anyPet: fc.Arbitrary<NewPet> = fc
  .tuple(fc.array(anyMember, { maxLength: 5 }), blank)
  .map(([members, between]) => ({ text: objectText(members, between) }));

export const newPet: fc.Arbitrary<NewPet> = weighted(
  [4, typedPet],
  [3, anyPet],
  [1, anyJson.map((text) => ({ text }))],
);

function escaped(text: string): string {
  const units = text.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${units.join("")}"`;
}

/**
 * The format of cursors, mostly with the current version. Pages after them lie among the first pets or behind the last
 * one, so creates at the same time do not change them.
 */
export const cursor: fc.Arbitrary<string> = fc
  .tuple(
    mostly(1, fc.constantFrom(0, 2, 255), 5),
    fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, 255),
    fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 30n }), fc.bigInt({ min: 2n ** 40n, max: 2n ** 63n - 1n })),
    mostly("", fc.constantFrom("=", "A", "+"), 5),
  )
  .map(([version, filter, id, tail]) => {
    const bytes = Buffer.from([version, filter, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.writeBigInt64BE(id, 2);
    return bytes.toString("base64url") + tail;
  });

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
const status = quoted(weighted([4, petStatus], [1, wellFormedString]));

const list: fc.Arbitrary<ListOperation> = fc.record({
  kind: fc.constant("list"),
  query: fc
    .record({ limit, status, cursor: quoted(fc.oneof(cursor, wellFormedString)) }, { requiredKeys: [] })
    .map((query) => ({ ...query }) as ListOperation["query"]),
  isConnection: fc.boolean(),
});

export const operation: fc.Arbitrary<Operation> = weighted<Operation>([3, create], [2, list]);
