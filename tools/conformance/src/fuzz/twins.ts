/** Operations that both APIs can be asked: the verdicts, the pets and the lists must be the same. */
import fc from "fast-check";
import type { Answer, Operation, Pet } from "../apis/api.js";
import { cursorText } from "./cursor-text.js";
import { jsonText, wellFormedString } from "./hostile.js";
import { newPetText } from "./new-pet.js";

export type Twin =
  | {
      readonly kind: "list";
      readonly query: Readonly<Record<string, string>>;
      readonly learned: number | undefined;
      readonly byConnection: boolean;
    }
  | { readonly kind: "create"; readonly input: string; readonly key: TwinKey | undefined };

interface TwinKey {
  /** What follows what makes it unique; alone, and no key at all for REST's header, where `bare`. */
  readonly text: string;
  readonly bare: boolean;
  /** Through the other API, with the same key, after it was accepted. */
  readonly repeated: string | "same" | undefined;
}

// A header's value has no blanks around it, and a quote in front begins RFC 8941's notation.
const keyText = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 30 }),
  fc.integer({ min: 235, max: 245 }).map((length) => "k".repeat(length)),
  fc.constant("a b"),
);

const noKeys = ["", "\u00e9", "k".repeat(256)];

const key: fc.Arbitrary<TwinKey> = fc
  .record({
    text: keyText.filter((text) => !/[\x7f]/.test(text)),
    bare: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    repeated: fc.oneof(
      { weight: 2, arbitrary: fc.constant<"same">("same") },
      { weight: 1, arbitrary: newPetText },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
  })
  // Alone it is the same in every case, so only what makes no key may stand alone.
  .map((one) => (one.bare ? { ...one, text: noKeys[one.text.length % noKeys.length] ?? "" } : one));

const create: fc.Arbitrary<Twin> = fc.record({
  kind: fc.constant("create" as const),
  input: fc.oneof({ weight: 14, arbitrary: newPetText }, { weight: 1, arbitrary: jsonText }),
  key: fc.option(key, { freq: 2, nil: undefined }),
});

/** A query string has no types: numbers are those that both notations spell alike, and texts look like no number. */
const limit = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 100 }).map(String) },
  { weight: 1, arbitrary: fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom("0", "101", "2147483647", "2147483648", "1.5", "9007199254740993") },
  { weight: 1, arbitrary: wellFormedString.filter((text) => !/^\d+$/.test(text)).map((text) => JSON.stringify(text)) },
);
const status = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('"available"', '"pending"', '"sold"') },
  { weight: 1, arbitrary: wellFormedString.map((text) => JSON.stringify(text)) },
);
const cursor = fc.oneof(cursorText, wellFormedString).map((text) => JSON.stringify(text));

const list: fc.Arbitrary<Twin> = fc.record({
  kind: fc.constant("list" as const),
  query: fc
    .record({ limit, status, cursor }, { requiredKeys: [] })
    .map((query) => ({ ...query }) as Readonly<Record<string, string>>),
  learned: fc.option(fc.nat(), { freq: 2, nil: undefined }),
  byConnection: fc.boolean(),
});

export const twins: fc.Arbitrary<Twin> = fc.oneof({ weight: 3, arbitrary: create }, { weight: 2, arbitrary: list });

/** What an answer decided: the pets, without what the service assigned to new ones, or the code. */
export function verdictOf({ kind }: Operation, { outcome }: Answer): string {
  if (outcome.kind === "failure") return outcome.code;
  return `success ${JSON.stringify(outcome.pets.map((pet) => facts(pet, kind === "list")))}`;
}

function facts({ id, name, categoryId, status: state }: Pet, withId: boolean): string[] {
  return [...(withId ? [id] : []), name, categoryId, state];
}
