import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { searchPath } from "./installed-program.js";
import { disposeOnFailure, type Program, startProgram } from "./program.js";
import { serviceFlags, standaloneMain } from "./service.js";

/** A directory that disposing removes. */
export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

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

/** Starts the program of `npm start` in an empty directory, and waits until both APIs answer. */
export async function startStandaloneStore(environment: Environment = {}): Promise<StandaloneStore> {
  const directory = await openTemporaryDirectory();
  const started = startStandaloneStoreIn(directory.path, environment);
  const store = await disposeOnFailure(directory, started);
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
}

export async function startStandaloneStoreIn(path: string, environment: Environment = {}): Promise<StandaloneStore> {
  const program = startStandaloneProgram(path, environment);
  const [, origin = "", demoKey = ""] = await disposeOnFailure(program, program.printed(banner));
  return { ...program, origin, directory: path, databaseUrl: (await embeddedPostgresUrl(path)) ?? "", demoKey };
}

/** The same without waiting, for a start that fails. */
export function startStandaloneProgram(path: string, environment: Environment = {}): Program {
  return startProgram({
    name: "The store",
    args: [...serviceFlags, standaloneMain.pathname],
    directory: tmpdir(),
    environment: { PATH: searchPath(), PETSTORE_DIR: path, PORT: "0", ...environment },
  });
}

/** The process id of the PostgreSQL of a standalone store. */
export async function postmasterOf(path: string): Promise<number> {
  return Number.parseInt(await readFile(join(path, "cluster", "data", "postmaster.pid"), "utf8"), 10);
}

export async function openTemporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), "petstore-temporary-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

type Environment = Readonly<Record<string, string>>;
