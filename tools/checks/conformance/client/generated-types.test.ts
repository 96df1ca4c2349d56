import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { compile, generateTypes, usage } from "./generated-types.js";

const quickstart = new URL("../../../../services/graphql/docs/quickstart.md", import.meta.url);

it("the types that graphql-codegen generates for schema.graphql and its operations compile", async () => {
  const { ofSchema, ofOperations } = await generateTypes();
  expect(await compile(ofSchema)).toBe("");
  expect(await compile(ofOperations + usage)).toBe("");
  expect(ofSchema).toContain("categoryId: Scalars['ID']['output']");
});

it("the quickstart configures the plugin of these operations", async () => {
  const [, block = ""] = /^```json\n(.*?)^```$/ms.exec(await readFile(quickstart, "utf8")) ?? [];
  const { generates } = JSON.parse(block) as { generates: Record<string, { plugins: string[] }> };
  expect(Object.values(generates)).toEqual([{ plugins: ["typescript-operations"] }]);
});

it("a program that uses an id as a number does not compile", async () => {
  const { ofOperations } = await generateTypes();
  const wrong = "export const next = (listed: ListQuery): number => (listed.pets[0]?.id ?? 0) + 1;";
  expect(await compile(ofOperations + wrong)).toMatch(/error TS/);
});
