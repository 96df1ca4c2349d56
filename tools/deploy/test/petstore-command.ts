import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const command = fileURLToPath(new URL("../../admin/bin/petstore.mjs", import.meta.url));

/** Runs the petstore command once, without input. Rejects when it fails. */
export async function petstore(databaseUrl: string, ...words: readonly string[]): Promise<string> {
  const environment = { DATABASE_URL: databaseUrl };
  const running = promisify(execFile)(process.execPath, [command, ...words], { env: environment });
  running.child.stdin?.end();
  return (await running).stdout;
}

/** Migrates the database, creates an account and returns a key of it. */
export async function issueKey(databaseUrl: string, ...accountWords: readonly string[]): Promise<string> {
  await petstore(databaseUrl, "migrate");
  await petstore(databaseUrl, "account", "create", "shop", ...accountWords);
  return (JSON.parse(await petstore(databaseUrl, "key", "issue", "shop", "--json")) as { readonly key: string }).key;
}
