/** The GraphQL types of a page of pets, as in the Relay cursor connections specification. */
import "reflect-metadata";
import type { Pet, PetPage } from "@petstore/core";
import { Field, ObjectType } from "type-graphql";
import { PetType } from "./pet-types.js";

@ObjectType("PageInfo", { description: "Where a page begins and ends.", simpleResolvers: true })
export class PageInfoType {
  @Field(() => Boolean, { description: "Whether `after: endCursor` returns more pets now." })
  readonly hasNextPage!: boolean;

  @Field(() => Boolean, {
    description: "Whether the page has an `after` argument: its cursor belongs to an earlier pet.",
  })
  readonly hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: "The cursor of the first pet. Null on an empty page." })
  readonly startCursor!: string | undefined;

  @Field(() => String, { nullable: true, description: "The cursor of the last pet. Null on an empty page." })
  readonly endCursor!: string | undefined;
}

@ObjectType("PetEdge", { description: "A pet of a page, with its cursor.", simpleResolvers: true })
export class PetEdgeType {
  @Field(() => String, {
    description:
      "Continues the list after this pet, in the REST API too. A client that follows the cursors misses no pet.",
  })
  readonly cursor!: string;

  @Field(() => PetType, { description: "The pet." })
  readonly node!: PetType;
}

@ObjectType("PetConnection", { description: "A page of pets.", simpleResolvers: true })
export class PetConnectionType {
  @Field(() => [PetEdgeType], { description: "The pets, each with its cursor." })
  readonly edges: PetEdgeType[];

  @Field(() => [PetType], { description: "The pets, without cursors." })
  readonly nodes: readonly Pet[];

  @Field(() => PageInfoType, { description: "Where the page begins and ends, and whether more pets follow." })
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
