// A PostgreSQL of the programs on this machine. Unlike the embedded one, they include pg_dump and pg_basebackup.
import { execFile } from "node:child_process";
import { chown } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { choosePort, loopback } from "@petstore/embedded-postgres";
import { folderOf, searchPath } from "../processes/installed-program.js";
import { startProgram } from "../processes/program.js";
import { openTemporaryDirectory, openTogether, type TemporaryDirectory } from "../processes/resources.js";

/** A server that accepts every password. Disposing kills it and removes the data that it has created. */
export interface InstalledPostgres extends AsyncDisposable {
  /** For the superuser. */
  readonly url: string;
}

/** Needs Debian's `postgresql`, or `postgres` in PATH. Uses existing data, which disposing leaves, or new data. */
export function openInstalledPostgres({ data }: { readonly data?: string } = {}): Promise<InstalledPostgres> {
  return openTogether(async (use) => {
    const directory = data ?? join(use(await openServerDirectory()).path, "data");
    if (data === undefined) {
      const initdb = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", `--pgdata=${directory}`];
      await runPostgresProgram("initdb", initdb);
    }
    const port = await choosePort(undefined);
    const settings = [
      `port=${port}`,
      `listen_addresses=${loopback}`,
      "unix_socket_directories=",
      "logging_collector=off",
      "fsync=off",
      "wal_level=logical",
    ];
    const program = startProgram({
      name: "PostgreSQL",
      command: join(postgresFolder ?? "", "postgres"),
      args: ["-D", directory, ...settings.flatMap((setting) => ["-c", setting])],
      environment: { LC_ALL: "C" },
      directory: "/",
      user: serverUser,
    });
    use({
      async [Symbol.asyncDispose]() {
        // An immediate shutdown, which does not wait for clients.
        program.signal("SIGQUIT");
        await program.ended;
      },
    });
    await program.printed(/database system is ready to accept/);
    return { url: `postgres://postgres@${loopback}:${port}/postgres` };
  });
}

/** A temporary directory that belongs to the user of the server. */
export async function openServerDirectory(): Promise<TemporaryDirectory> {
  const directory = await openTemporaryDirectory();
  const { uid, gid } = serverUser;
  if (uid !== undefined && gid !== undefined) await chown(directory.path, uid, gid);
  return directory;
}

interface RunOptions {
  readonly cwd?: string;
  /** In addition to PATH. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Ends the program with SIGTERM, and rejects. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program such as `pg_basebackup` as the user of the server, and returns its output. */
export async function runPostgresProgram(
  program: string,
  words: readonly string[],
  { cwd = "/", environment, signal }: RunOptions = {},
): Promise<string> {
  const options = { cwd, env: { PATH: postgresPath, ...environment }, signal, ...serverUser };
  return (await promisify(execFile)(program, words, options)).stdout;
}

/** The user `nobody` instead of root, because PostgreSQL refuses to run as root. */
export const serverUser: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The folder with every program. A folder of the PATH may have links to some of them, but not to this one. */
export const postgresFolder: string | undefined = folderOf("pg_rewind");

/** A PATH in which the programs of the server come first. */
export const postgresPath: string = [postgresFolder ?? [], searchPath()].flat().join(":");
