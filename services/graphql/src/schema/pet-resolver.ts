/** Resolves the root fields with the catalogue of the operation. */
import type { Caller, Pet } from "@petstore/core";
import type { GraphQLInputObjectType, GraphQLSchema } from "graphql";
import { Arg, buildSchemaSync, Ctx, createParameterDecorator, Int, Mutation, Query, Resolver } from "type-graphql";
import type { OperationCatalogue } from "../operation/operation-catalogue.js";
import type { Plan } from "../operation/plan-operation.js";
import { PetConnectionType } from "./pet-connection-type.js";
import { NewPetInput, PetType, petStatusEnum, withoutNulls } from "./pet-types.js";

/** The context value of one operation, for the plugins and the resolvers. */
export interface OperationContext {
  /** As the key was when the operation was planned. */
  readonly caller: Caller;
  readonly catalogue: OperationCatalogue;
  /** What the operation costs, or why it is refused. */
  readonly plan: Plan;
  /** Reserves this cost in place of the unit of the admission. Throws the problem if the quota refuses. */
  extend(cost: number): Promise<void>;
}

/** The schema of the API. Core validates the values, so type-graphql does not. */
export function buildPetSchema(): GraphQLSchema {
  const schema = buildSchemaSync({ resolvers: [PetResolver], validate: false });
  // type-graphql has no decorator for these two types.
  for (const [type, description] of [
    [schema.getQueryType(), "Reads of pets. Each field costs a unit."],
    [schema.getMutationType(), "Changes of the store, in the order of the fields. Each field costs a unit."],
  ] as const) {
    if (type) type.description = description;
  }
  return schema;
}

const cursorDescription = "A cursor of `petsConnection`, or the cursor in a `next` link of the REST API.";
const statusDescription = "Only pets with this status. Without it, all pets.";
const keyDescription =
  "1 to 255 printable ASCII characters. A repetition within 24 hours, in either API, adds no second pet.";

/** type-graphql's own decorator drops properties that the type does not have, and then core could not refuse them. */
const UncheckedInput = () =>
  createParameterDecorator<OperationContext>(
    ({ args, info }) => withoutNulls(args.input, info.schema.getType("NewPet") as GraphQLInputObjectType),
    { arg: { name: "input", typeFunc: () => NewPetInput, options: { description: "The pet to add." } } },
  );

/**
 * An argument can have a wrong type (`variables.ts`): core validates every value. Arguments are in reverse order, because
 * type-graphql adds them to the schema from the last to the first.
 */
@Resolver()
class PetResolver {
  @Query(() => [PetType], { description: "Pets, ascending by id." })
  async pets(
    @Ctx() { catalogue }: OperationContext,
    @Arg("cursor", () => String, { nullable: true, description: cursorDescription }) cursor: string | null,
    @Arg("status", () => petStatusEnum, { nullable: true, description: statusDescription }) status: string | null,
    @Arg("limit", () => Int, { defaultValue: 20, description: "1 to 100." }) limit: number,
  ): Promise<readonly Pet[]> {
    const { pets } = await catalogue.list({ limit, status: status ?? undefined, cursor: cursor ?? undefined });
    return pets;
  }

  @Query(() => PetConnectionType, { description: "Pets, ascending by id, with a cursor for each." })
  async petsConnection(
    @Ctx() { catalogue }: OperationContext,
    @Arg("status", () => petStatusEnum, { nullable: true, description: statusDescription }) status: string | null,
    @Arg("after", () => String, { nullable: true, description: "A cursor of a list with the same status." })
    after: string | null,
    @Arg("first", () => Int, { defaultValue: 20, description: "1 to 100." }) first: number,
  ): Promise<PetConnectionType> {
    const page = await catalogue.listAsConnection({
      first,
      status: status ?? undefined,
      after: after ?? undefined,
    });
    // A cursor names a pet of this list, and pets are never removed. So a page after a cursor has a previous page.
    return new PetConnectionType(page, after != null);
  }

  /** Nullable: if a later field of the mutation fails, its caller must still see the pets that were stored before. */
  @Mutation(() => PetType, {
    nullable: true,
    description: "Adds a pet. Null if it fails, with the reason in `errors`.",
  })
  async createPet(
    @Ctx() { catalogue }: OperationContext,
    @Arg("idempotencyKey", () => String, { nullable: true, description: keyDescription }) idempotencyKey: unknown,
    @UncheckedInput() input: unknown,
  ): Promise<Pet> {
    return catalogue.create({ input, idempotencyKey: idempotencyKey ?? undefined });
  }
}
