import { type PetStatus, petStatuses } from "@petstore/core";
import { Field, InputType, ObjectType, registerEnumType } from "type-graphql";
import { int64Id } from "./int64-id.js";

/** The object type-graphql names the enum by. */
export const petStatusEnum: Readonly<Record<PetStatus, string>> = {
  available: "available",
  pending: "pending",
  sold: "sold",
};
registerEnumType(petStatusEnum, { name: "PetStatus", description: `One of ${petStatuses.join(", ")}.` });

@ObjectType("Pet", { description: "A pet of the store.", simpleResolvers: true })
export class PetType {
  @Field(() => int64Id, { description: "Assigned by the service: an int64 in decimal digits." })
  readonly id!: bigint;

  @Field(() => String)
  readonly name!: string;

  @Field(() => int64Id, { description: "An int64 in decimal digits." })
  readonly categoryId!: bigint;

  @Field(() => petStatusEnum, { nullable: true })
  readonly status!: PetStatus;
}

/** What a client sends for a new pet. Only its shape is described here: core judges the values. */
@InputType("NewPet", { description: "A pet to add." })
export class NewPetInput {
  @Field(() => String, {
    description: "1 to 255 characters, at least one of them not blank, no control characters.",
  })
  readonly name!: string;

  @Field(() => int64Id, { description: "An int64, as a string of decimal digits or as an integer." })
  readonly categoryId!: unknown;

  @Field(() => petStatusEnum, { nullable: true, description: "`available` when it is left out." })
  readonly status!: PetStatus | null | undefined;
}
