// Runs the programs of the images like a container: as a user without rights, with only the given environment.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { isAnswering } from "@petstore/harness/network";
import { type Program, startProgram } from "@petstore/harness/processes";
import { inject } from "vitest";
import { instructionsOf } from "./dockerfile.js";

/** A service from its image, as a process. Disposing ends it. */
export interface RunningService extends Program {
  readonly host: string;
  readonly origin: string;
  readonly metricsUrl: string;
}

export interface ServiceAddress {
  readonly host?: string;
  readonly port?: number;
}

export function folderOf(image: string): string {
  return join(inject("imagesDirectory"), image);
}

/** The ENTRYPOINT of an image. */
export async function commandOf(image: string): Promise<string[]> {
  const instructions = await instructionsOf(image);
  const entrypoint = instructions.findLast((instruction) => instruction.getKeyword() === "ENTRYPOINT");
  return JSON.parse(entrypoint?.getArgumentsContent() ?? "[]");
}

/** The names of the settings that the services read. */
export async function documentedSettings(): Promise<string[]> {
  const documented = await readFile(new URL("../../../packages/core/.env.example", import.meta.url), "utf8");
  return [...documented.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = ""]) => name);
}

/** Resolves when `/livez` answers 200. */
export async function startService(
  image: string,
  environment: Readonly<Record<string, string>>,
  address: ServiceAddress = {},
): Promise<RunningService> {
  const { host = "127.0.0.1", port = await choosePort(undefined) } = address;
  const metricsPort = await choosePort(undefined);
  const program = startProgram({
    name: `The image ${image}`,
    args: await argumentsOf(image),
    directory: "/",
    environment: {
      NODE_ENV: "production",
      HOST: host,
      PORT: `${port}`,
      METRICS_HOST: host,
      METRICS_PORT: `${metricsPort}`,
      ...environment,
    },
    user: withoutRights(),
  });
  const origin = `http://${host}:${port}`;
  await program.until(() => isAnswering(`${origin}/livez`));
  return { ...program, host, origin, metricsUrl: `http://${host}:${metricsPort}/metrics` };
}

/** Runs the petstore command once, without input. Rejects when it fails. */
export async function petstore(databaseUrl: string, ...words: readonly string[]): Promise<string> {
  const running = promisify(execFile)(process.execPath, [...(await argumentsOf("petstore")), ...words], {
    cwd: "/",
    env: { NODE_ENV: "production", DATABASE_URL: databaseUrl },
    ...withoutRights(),
  });
  running.child.stdin?.end();
  return (await running).stdout;
}

/** Migrates the database, creates an account and returns a key of it. */
export async function issueKey(databaseUrl: string, ...accountWords: readonly string[]): Promise<string> {
  await petstore(databaseUrl, "migrate");
  await petstore(databaseUrl, "account", "create", "shop", ...accountWords);
  return (JSON.parse(await petstore(databaseUrl, "key", "issue", "shop", "--json")) as { readonly key: string }).key;
}

/** Root becomes the user of the images. Another user of this machine has no rights either. */
function withoutRights(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: 65_532, gid: 65_532 } : {};
}

/** The arguments of Node in the image, with the paths of this machine. */
async function argumentsOf(image: string): Promise<string[]> {
  const [, ...words] = await commandOf(image);
  return words.map((word) => word.replace(/^\/app(?=\/)/, folderOf(image)));
}
