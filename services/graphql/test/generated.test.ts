import { printSchema } from "graphql";
import { expect, it } from "vitest";
import { buildPetSchema } from "../src/schema/pet-resolver.js";

it("schema.graphql is the schema of the API", async () => {
  await expect(`${printSchema(buildPetSchema())}\n`).toMatchFileSnapshot("../schema.graphql");
});
