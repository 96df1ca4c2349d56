import type { Pool } from "pg";
import {
  Arg,
  Ctx,
  Field,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  registerEnumType,
} from "type-graphql";
import { createPet, listPets } from "../pet-sql.js";

const petStatus = { available: "available", pending: "pending", sold: "sold" };
registerEnumType(petStatus, { name: "PetStatus" });

@ObjectType()
class Pet {
  @Field(() => ID)
  readonly id!: string;

  @Field(() => String)
  readonly name!: string;

  @Field(() => ID)
  readonly categoryId!: string;

  @Field(() => petStatus)
  readonly status!: string;
}

@InputType()
class NewPet {
  @Field(() => String)
  readonly name!: string;

  @Field(() => ID)
  readonly categoryId!: string;

  @Field(() => petStatus, { defaultValue: "available" })
  readonly status!: string;
}

interface Context {
  readonly pool: Pool;
}

@Resolver()
export class PetResolver {
  @Query(() => [Pet])
  async pets(
    @Ctx() { pool }: Context,
    @Arg("limit", () => Int, { defaultValue: 20 }) limit: number,
    @Arg("status", () => petStatus, { nullable: true }) status?: string,
  ): Promise<Pet[]> {
    return listPets(pool, { status, limit });
  }

  @Mutation(() => Pet)
  async createPet(@Ctx() { pool }: Context, @Arg("input", () => NewPet) input: NewPet): Promise<Pet | undefined> {
    return createPet(pool, input);
  }
}
