/** The optional field `nickname`, added by the guide "Add a field" of CONTRIBUTING.md. */

/** For each file, texts that it has once, with the code that follows them for the field. */
export type Additions = Readonly<Record<string, readonly (readonly [after: string, added: string])[]>>;

const inPet = ["readonly status: PetStatus;", "\n readonly nickname: string | null;"] as const;

/** The types of a pet, in core and in the client. The compiler finds most of the other places by them. */
export const typeAdditions: Additions = {
  "packages/core/src/pets/pet.ts": [inPet],
  "packages/client/src/pet.ts": [
    inPet,
    ["readonly status?: PetStatus | undefined;", "\n readonly nickname?: string | null | undefined;"],
  ],
};

export const additions: Additions = {
  "packages/core/src/pets/pet-queries.ts": [
    ['"pets.status"', ', "pets.nickname"'],
    ['  status: "status",', '\n  nickname: "nickname",'],
  ],
  "packages/core/src/pets/idempotency.ts": [
    ["digestPet({ name, categoryId, status", ", nickname"],
    ['AllFields<NewPet, "name" | "categoryId" | "status"', ' | "nickname"'],
    ["`, status", ', ...(nickname === null ? [] : [["nickname", nickname]])'],
  ],
  "packages/core/src/pets/validation.ts": [
    ["with name, categoryId and optionally status", " and nickname"],
    ['status: petStatus.default("available")', ", nickname: petName.nullable().default(null)"],
  ],
  "services/rest/src/pet-routes.ts": [
    ["petJson({ id, name, categoryId, status", ", nickname"],
    ['AllFields<Pet, "id" | "name" | "categoryId" | "status"', ' | "nickname"'],
    [`"status":"\${status}"`, `,"nickname":\${JSON.stringify(nickname)}`],
  ],
  "services/graphql/src/schema/pet-types.ts": [
    ["readonly status!: PetStatus;", "\n @Field(() => String, { nullable: true }) readonly nickname!: string | null;"],
    [
      "readonly status!: PetStatus | null | undefined;",
      "\n @Field(() => String, { nullable: true }) readonly nickname!: unknown;",
    ],
  ],
  "services/graphql/src/operation/selection-fault.ts": [["const maxFieldsOfRoot = 22", " + 2"]],
  "packages/client/src/pet.ts": [
    ["writeNewPet({ name, categoryId, status", ", nickname"],
    ["status: JSON.stringify(status),", "nickname: JSON.stringify(nickname),"],
    ["const { id, name, categoryId, status", ", nickname = null"],
    [
      'if (typeof name !== "string" || !isStatus) throw new TypeError("not a pet");',
      'if (nickname !== null && typeof nickname !== "string") throw new TypeError("not a pet");',
    ],
    ['categoryId: toInt64(categoryId as Int64, "categoryId"),\n    status,', "nickname,"],
  ],
  "packages/core/src/database/migrations/migrations.ts": [
    ["holder);\n  end loop;\nend $$;\n`,", '"9999-nickname": "alter table pets add column nickname text",'],
  ],
  "services/rest/openapi.yaml": [
    [
      'status: { $ref: "#/components/schemas/PetStatus" }',
      '\n        nickname: { anyOf: [*petName, { type: "null" }] }',
    ],
    ['"`available` unless given." }', '\n        nickname: { anyOf: [*petName, { type: "null" }], default: null }'],
  ],
};
