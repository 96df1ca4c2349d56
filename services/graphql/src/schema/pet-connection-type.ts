/** The GraphQL types of a page of pets, as in the Relay cursor connections specification. */
import "reflect-metadata";
import type { Pet, PetPage } from "@petstore/core";
import { Field, ObjectType } from "type-graphql";
import { PetType } from "./pet-types.js";

@ObjectType("PageInfo", { simpleResolvers: true })
export class PageInfoType {
  @Field(() => Boolean)
  readonly hasNextPage!: boolean;

  @Field(() => Boolean)
  readonly hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true })
  readonly startCursor!: string | undefined;

  @Field(() => String, { nullable: true })
  readonly endCursor!: string | undefined;
}

@ObjectType("PetEdge", { simpleResolvers: true })
export class PetEdgeType {
  @Field(() => String, {
    description:
      "Continues the list after this pet, in the REST API too. A client that follows the cursors misses no pet.",
  })
  readonly cursor!: string;

  @Field(() => PetType)
  readonly node!: PetType;
}

@ObjectType("PetConnection", { simpleResolvers: true })
export class PetConnectionType {
  @Field(() => [PetEdgeType])
  readonly edges: PetEdgeType[];

  @Field(() => [PetType])
  readonly nodes: readonly Pet[];

  @Field(() => PageInfoType)
  readonly pageInfo: PageInfoType;

  constructor({ pets, nextCursor, cursorOf }: PetPage, hasPreviousPage: boolean) {
    this.nodes = pets;
    this.edges = pets.map((node) => ({ cursor: cursorOf(node), node }));
    this.pageInfo = {
      hasNextPage: nextCursor !== undefined,
      hasPreviousPage,
      startCursor: this.edges[0]?.cursor,
      endCursor: this.edges.at(-1)?.cursor,
    };
  }
}
