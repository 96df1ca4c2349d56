import "reflect-metadata";
import type { GraphQLSchema } from "graphql";
import { buildSchemaSync } from "type-graphql";
import { PetResolver } from "./pet-resolver.js";

/** The schema of the API. Values are core's to validate, so type-graphql validates none. */
export function buildPetSchema(): GraphQLSchema {
  return buildSchemaSync({ resolvers: [PetResolver], validate: false });
}
