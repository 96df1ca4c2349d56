import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { type Program, startProgram } from "./program.js";
import { openTemporaryDirectory, openTogether } from "./resources.js";
import { serviceFlags } from "./service.js";

export interface StandaloneStore extends Program {
  readonly origin: string;
  /** The value of PETSTORE_DIR. The `petstore` command finds the store by it. */
  readonly directory: string;
  readonly databaseUrl: string;
  /** The key of the demo account. Only the first start in a directory prints it; later it is empty. */
  readonly demoKey: string;
}

/** The first start ends it with the key of the demo account, a later one with the way to a new key. */
const banner = / ready at (http:\/\/[^\s/]+)\/v1.*(?:^ {2}(pets_test_\w+)$|was shown at the first start)/ms;

/** Starts `main`, the program of `npm start`, in an empty directory, and waits until both APIs answer. */
export function startStandaloneStore(main: URL, environment: Environment = {}): Promise<StandaloneStore> {
  return openTogether(async (use) => {
    const { path } = use(await openTemporaryDirectory());
    return use(await startStandaloneStoreIn(main, path, environment));
  });
}

export function startStandaloneStoreIn(
  main: URL,
  path: string,
  environment: Environment = {},
): Promise<StandaloneStore> {
  return openTogether(async (use) => {
    const program = use(startStandaloneProgram(main, path, environment));
    const [, origin = "", demoKey = ""] = await program.printed(banner);
    return { ...program, origin, directory: path, databaseUrl: (await embeddedPostgresUrl(path)) ?? "", demoKey };
  });
}

/** The same without waiting, for a start that fails. */
export function startStandaloneProgram(main: URL, path: string, environment: Environment = {}): Program {
  return startProgram({
    name: "The store",
    args: [...serviceFlags, main.pathname],
    directory: tmpdir(),
    environment: { PETSTORE_DIR: path, PORT: "0", ...environment },
  });
}

/** The process id of the PostgreSQL of a standalone store. */
export async function postmasterOf(path: string): Promise<number> {
  return Number.parseInt(await readFile(join(path, "cluster", "data", "postmaster.pid"), "utf8"), 10);
}

type Environment = Readonly<Record<string, string>>;
