import type { Catalogue, Pet } from "@petstore/core";
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  createParameterDecorator,
  Field,
  Int,
  Mutation,
  Query,
  Resolver,
} from "type-graphql";
import { PetConnectionType } from "./pet-connection-type.js";
import { NewPetInput, PetType, petStatusEnum } from "./pet-type.js";

/** What an operation is executed with. */
export interface OperationContext {
  readonly catalogue: Catalogue;
  readonly accountId: bigint;
  /** Told of every pet a mutation answers with: whether an earlier request had made it. */
  onCreated(replayed: boolean): void;
}

@ArgsType()
class ListArgs {
  @Field(() => Int, { defaultValue: 20, description: "1 to 100." })
  readonly limit!: number;

  @Field(() => petStatusEnum, { nullable: true })
  readonly status!: string | null | undefined;

  @Field(() => String, { nullable: true, description: "Of an edge of `petsConnection`, or of REST's next page." })
  readonly cursor!: string | null | undefined;
}

@ArgsType()
class ConnectionArgs {
  @Field(() => Int, { defaultValue: 20, description: "1 to 100." })
  readonly first!: number;

  @Field(() => String, { nullable: true, description: "A cursor of a list with the same status." })
  readonly after!: string | null | undefined;

  @Field(() => petStatusEnum, { nullable: true })
  readonly status!: string | null | undefined;
}

const keyDescription =
  "1 to 255 printable ASCII characters. Repeated within 24 hours, over either API, it makes no second pet.";

/**
 * The argument as it came: type-graphql's own would lose what no field of the type is named after, and core could not
 * refuse it.
 */
const Input = () =>
  createParameterDecorator<OperationContext>(({ args }) => args.input, {
    arg: { name: "input", typeFunc: () => NewPetInput },
  });

/** Arguments are typed as valid ones are; what they hold is as the client sent it, for core to judge. */
@Resolver()
export class PetResolver {
  @Query(() => [PetType], { description: "Pets, ascending by id." })
  async pets(
    @Ctx() { catalogue }: OperationContext,
    @Args(() => ListArgs) { limit, status, cursor }: ListArgs,
  ): Promise<readonly Pet[]> {
    const { pets } = await catalogue.list({ limit, status: status ?? undefined, cursor: cursor ?? undefined });
    return pets;
  }

  @Query(() => PetConnectionType, { description: "Pets, ascending by id, with a cursor for each." })
  async petsConnection(
    @Ctx() { catalogue }: OperationContext,
    @Args(() => ConnectionArgs) { first, after, status }: ConnectionArgs,
  ): Promise<PetConnectionType> {
    const page = await catalogue.connect({ first, status: status ?? undefined, after: after ?? undefined });
    return new PetConnectionType(page);
  }

  // Written from the last to the first, which is the order type-graphql puts single arguments in.
  @Mutation(() => PetType, { description: "Adds a pet." })
  async createPet(
    @Ctx() { catalogue, accountId, onCreated }: OperationContext,
    @Arg("idempotencyKey", () => String, { nullable: true, description: keyDescription }) idempotencyKey: unknown,
    @Input() input: unknown,
  ): Promise<Pet> {
    const created = await catalogue.create({
      accountId,
      input,
      subject: "input",
      idempotencyKey: idempotencyKey ?? undefined,
    });
    onCreated(created.replayed);
    return created.pet;
  }
}
