import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { codegen } from "@graphql-codegen/core";
import * as typescript from "@graphql-codegen/typescript";
import * as typescriptOperations from "@graphql-codegen/typescript-operations";
import { parse } from "graphql";
import { createDocument, listDocument } from "./graphql-client.js";

const schemaFile = new URL("../../../../services/graphql/schema.graphql", import.meta.url);
const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));

type Plugin = Parameters<typeof codegen>[0]["pluginMap"][string];

/** The files that graphql-codegen writes for the committed schema, and for two operations of it. */
export async function generateTypes(): Promise<{ readonly ofSchema: string; readonly ofOperations: string }> {
  const schema = parse(await readFile(schemaFile, "utf8"));
  const documents = [listDocument, createDocument].map((text) => ({ location: "", document: parse(text) }));
  const generate = (plugin: Plugin) =>
    codegen({ filename: "", schema, documents, config: {}, plugins: [{ plugin: {} }], pluginMap: { plugin } });
  return { ofSchema: await generate(typescript), ofOperations: await generate(typescriptOperations) };
}

/** The errors of the compiler in its strictest mode; empty if there are none. */
export async function compile(code: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-types-"));
  try {
    const file = join(directory, "types.ts");
    await writeFile(file, code);
    const options = ["--strict", "--noEmit", "--target", "es2023", "--exactOptionalPropertyTypes", "--types", ""];
    await promisify(execFile)(process.execPath, [tsc, ...options, file], { cwd: directory });
    return "";
  } catch (error) {
    return `${(error as { readonly stdout?: string }).stdout ?? error}`;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A program that uses the types of the operations. It compiles only if they agree with the schema. */
export const usage = `
const listed: ListQuery = { pets: [{ id: "1", name: "Rex", categoryId: "2", status: "available" }] };
const variables: CreateMutationVariables = { input: { name: "Rex", categoryId: "9223372036854775807" } };
export const said: (string | undefined)[] = [listed.pets[0]?.id, variables.input.name];
`;
