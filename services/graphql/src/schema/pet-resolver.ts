import type { Catalogue, Pet, Problem } from "@petstore/core";
import type { Response } from "express";
import type { DocumentNode, GraphQLInputObjectType, GraphQLSchema } from "graphql";
import { Arg, buildSchemaSync, Ctx, createParameterDecorator, Int, Mutation, Query, Resolver } from "type-graphql";
import { PetConnectionType } from "./pet-connection-type.js";
import { NewPetInput, PetType, petStatusEnum, withoutNulls } from "./pet-types.js";

/** The context value of one operation, for the plugins and the resolvers. */
export interface OperationContext {
  readonly res: Response;
  readonly document: DocumentNode;
  /** As the key was when the operation was admitted. All fields of a query begin at once, so they use this. */
  readonly catalogue: Catalogue;
  readonly accountId: bigint;
  /**
   * The catalogue for the key as it is now. The fields of a mutation run one after another, and the last can begin long after
   * admission. Throws a problem with 401 or 403 if the key or its account may no longer be used, or SERVICE_UNAVAILABLE.
   */
  currentCatalogue(): Promise<Catalogue>;
  /** The results of `createPet`. `replayed`: an earlier request with the same idempotency key created the pet. */
  readonly createResults: { readonly replayed: boolean }[];
  /** All problems of the operation and its fields. */
  readonly problems: Problem[];
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
    const page = await catalogue.listAsConnection({ first, status: status ?? undefined, after: after ?? undefined });
    // A cursor names a pet of this list, and pets are never removed. So a page after a cursor has a previous page.
    return new PetConnectionType(page, after != null);
  }

  /** Nullable: if a later field of the mutation fails, its caller must still see the pets that were stored before. */
  @Mutation(() => PetType, {
    nullable: true,
    description: "Adds a pet. Null if it fails, with the reason in `errors`.",
  })
  async createPet(
    @Ctx() { currentCatalogue, accountId, createResults }: OperationContext,
    @Arg("idempotencyKey", () => String, { nullable: true, description: keyDescription }) idempotencyKey: unknown,
    @UncheckedInput() input: unknown,
  ): Promise<Pet> {
    const catalogue = await currentCatalogue();
    const created = await catalogue.create({
      accountId,
      input,
      subject: "input",
      idempotencyKey: idempotencyKey ?? undefined,
    });
    createResults.push(created);
    return created.pet;
  }
}
