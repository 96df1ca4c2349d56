/** Describes the fields of a pet, and converts identifiers. Core validates all values. */
import "reflect-metadata";
import { type NewPet, type Pet, type PetStatus, parseInt64, petStatuses } from "@petstore/core";
import { parseExactJson } from "@petstore/http";
import { type GraphQLInputObjectType, GraphQLScalarType, isNullableType, Kind, type ValueNode } from "graphql";
import { Field, InputType, ObjectType, registerEnumType } from "type-graphql";

/**
 * Replaces GraphQL's own `ID`, which does not accept bigint. The output is a decimal string, which every browser reads
 * exactly. The input is a string or an integer, also above 2^53. Core's validator refuses a value that is not an int64, with
 * the same message in both APIs.
 */
export const int64Id: GraphQLScalarType<unknown, string> = new GraphQLScalarType({
  name: "ID",
  description: "A 64-bit integer: a string of decimal digits in responses, and a string or an integer in requests.",
  serialize: (id) => `${id}`,
  // `readVariables` has converted the variables already.
  parseValue: (value) => value,
  parseLiteral: parseIdLiteral,
});

/** Converts a decimal string to bigint if it is an int64; returns any other value unchanged. */
export function readInt64(value: unknown): unknown {
  return typeof value === "string" ? (parseInt64(value) ?? value) : value;
}

/** Returns `undefined`, which graphql treats as invalid, for a literal that is not a number, a string or a boolean. */
function parseIdLiteral(node: ValueNode): unknown {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      // As in JSON, `1.0` and `1e3` are integers.
      return parseExactJson(node.value);
    case Kind.STRING:
      return readInt64(node.value);
    case Kind.BOOLEAN:
      return node.value;
    default:
      return undefined;
  }
}

/**
 * The input without its nulls. The schema allows null in a nullable field, and generated clients send it for an empty one,
 * so it means here that the field is left out. Core refuses every null, as the REST API does: only the nulls of nullable
 * fields are dropped.
 */
export function withoutNulls(input: unknown, type: GraphQLInputObjectType): unknown {
  if (typeof input !== "object" || input === null) return input;
  const fields = type.getFields();
  const isLeftOut = ([name, value]: [string, unknown]) => value === null && isNullableType(fields[name]?.type);
  return Object.fromEntries(Object.entries(input).filter((entry) => !isLeftOut(entry)));
}

/** This object identifies the enum in type-graphql. */
export const petStatusEnum: Readonly<Record<string, PetStatus>> = Object.fromEntries(
  petStatuses.map((status) => [status, status]),
);
registerEnumType(petStatusEnum, {
  name: "PetStatus",
  description: `One of ${petStatuses.join(", ")}.`,
  valuesConfig: {
    available: { description: "The pet can be bought." },
    pending: { description: "A sale has begun." },
    sold: { description: "The pet was sold." },
  } satisfies Record<PetStatus, object>,
});

@ObjectType("Pet", { description: "A pet of the store.", simpleResolvers: true })
export class PetType implements Pet {
  @Field(() => int64Id, { description: "Assigned by the service: an int64 in decimal digits." })
  readonly id!: bigint;

  @Field(() => String, { description: "As it was sent, byte for byte." })
  readonly name!: string;

  @Field(() => int64Id, { description: "An int64 in decimal digits." })
  readonly categoryId!: bigint;

  @Field(() => petStatusEnum, { nullable: true, description: "Whether the pet can be bought." })
  readonly status!: PetStatus;
}

@InputType("NewPet", { description: "A pet to add." })
export class NewPetInput implements Record<keyof NewPet, unknown> {
  @Field(() => String, {
    description: "1 to 255 characters, at least one of them not blank, no control characters.",
  })
  readonly name!: string;

  @Field(() => int64Id, { description: "An int64, as a string of decimal digits or as an integer." })
  readonly categoryId!: unknown;

  @Field(() => petStatusEnum, { nullable: true, description: "`available` when it is left out or null." })
  readonly status!: PetStatus | null | undefined;
}
