// The files of tools/deploy, and the programs that the tests run.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const restMain: URL = new URL(import.meta.resolve("@petstore/rest/main"));
export const graphqlMain: URL = new URL(import.meta.resolve("@petstore/graphql/main"));
const petstoreCommand = fileURLToPath(import.meta.resolve("@petstore/admin/petstore"));

/** The folder tools/deploy. */
export const folder = fileURLToPath(new URL("../", import.meta.url));

export function read(file: string): Promise<string> {
  return readFile(join(folder, file), "utf8");
}

/** Runs a program. Rejects when it fails. */
export const run = promisify(execFile);

/** Runs the petstore command once, without input. Rejects when it fails. */
export async function petstore(databaseUrl: string, ...words: readonly string[]): Promise<string> {
  const running = run(process.execPath, [petstoreCommand, ...words], { env: { DATABASE_URL: databaseUrl } });
  running.child.stdin?.end();
  return (await running).stdout;
}

/** Migrates the database, creates an account and returns a key of it. */
export async function issueKey(databaseUrl: string, ...accountWords: readonly string[]): Promise<string> {
  await petstore(databaseUrl, "migrate");
  await petstore(databaseUrl, "account", "create", "shop", ...accountWords);
  return (JSON.parse(await petstore(databaseUrl, "key", "issue", "shop", "--json")) as { readonly key: string }).key;
}
