import { expect, it } from "vitest";
import { compile, generateTypes, usage } from "./generated-types.js";

it("the types that graphql-codegen generates for schema.graphql and its operations compile", async () => {
  const { ofSchema, ofOperations } = await generateTypes();
  expect(await compile(ofSchema)).toBe("");
  expect(await compile(ofOperations + usage)).toBe("");
  expect(ofSchema).toContain("categoryId: Scalars['ID']['output']");
});

it("a program that uses an id as a number does not compile", async () => {
  const { ofOperations } = await generateTypes();
  const wrong = "export const next = (listed: ListQuery): number => (listed.pets[0]?.id ?? 0) + 1;";
  expect(await compile(ofOperations + wrong)).toMatch(/error TS/);
});
