// The types that graphql-codegen generates from the committed schema.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { codegen } from "@graphql-codegen/core";
import * as typescriptOperations from "@graphql-codegen/typescript-operations";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { parse } from "graphql";
import { expect, it } from "vitest";
import { graphqlQuickstart, schemaFile } from "../../programs.js";

const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
const operations = `
  query List { pets { id name categoryId status } }
  mutation Create($input: NewPet!) { createPet(input: $input) { id } }`;
/** It must compile with the generated types, in the strictest mode. */
const program = `
  const listed: ListQuery = { pets: [{ id: "1", name: "Rex", categoryId: "2", status: "available" }] };
  const variables: CreateMutationVariables = { input: { name: "Rex", categoryId: "9223372036854775807" } };
  export const said: (string | undefined)[] = [listed.pets[0]?.id, variables.input.name];
  // @ts-expect-error: an id is not a number.
  export const next: number = (listed.pets[0]?.id ?? 0) + 1;
  // @ts-expect-error: a number may be rounded.
  export const input: NewPet = { name: "Rex", categoryId: 9007199254740993 };`;

it("the plugin that the quickstart names generates types that agree with the schema", async () => {
  const quickstart = await readFile(graphqlQuickstart, "utf8");
  const [, block = ""] = /^```json\n(.*?)^```$/ms.exec(quickstart) ?? [];
  const { generates, config } = JSON.parse(block) as {
    generates: Record<string, { plugins: string[] }>;
    config: object;
  };
  expect(Object.values(generates)).toEqual([{ plugins: ["typescript-operations"] }]);
  const types = await codegen({
    filename: "",
    schema: parse(await readFile(schemaFile, "utf8")),
    documents: [{ location: "", document: parse(operations) }],
    config,
    plugins: [{ plugin: {} }],
    pluginMap: { plugin: typescriptOperations },
  });
  await using directory = await openTemporaryDirectory();
  const file = join(directory.path, "types.ts");
  await writeFile(file, types + program);
  const options = ["--strict", "--noEmit", "--target", "es2023", "--exactOptionalPropertyTypes", "--types", ""];
  await promisify(execFile)(process.execPath, [tsc, ...options, file], { cwd: directory.path });
});
