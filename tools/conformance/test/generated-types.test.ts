import { expect, it } from "vitest";
import { compile, generateTypes, usage } from "../src/clients/generated-types.js";

it("graphql-codegen's types of schema.graphql, and of operations over it, compile", async () => {
  const { ofSchema, ofOperations } = await generateTypes();
  expect(await compile(ofSchema)).toBe("");
  expect(await compile(ofOperations + usage)).toBe("");
  expect(ofSchema).toContain("categoryId: Scalars['ID']['output']");
});

it("a program that takes an id for a number does not compile", async () => {
  const { ofOperations } = await generateTypes();
  const mistaken = "export const next = (listed: ListQuery): number => (listed.pets[0]?.id ?? 0) + 1;";
  expect(await compile(ofOperations + mistaken)).toMatch(/error TS/);
});
