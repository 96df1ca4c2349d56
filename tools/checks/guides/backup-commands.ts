// Runs the blocks of "Roles" and "Backup and restore" in the operations guide against a server.
import { join } from "node:path";
import { type InstalledPostgres, postgresPath, runPostgresProgram } from "@petstore/harness/postgres";
import { markedCommands, runCommands } from "@petstore/harness/processes";

export interface GuideOptions {
  readonly server: InstalledPostgres;
  /** The home directory of the operator, with the private folder of the guide. */
  readonly folder: string;
}

/** Runs the block as this user, at the root of the repository like every example. */
export async function runBlock(mark: string, options: GuideOptions): Promise<void> {
  const code = (await codeOf(mark))
    // There is no container here. The command itself runs as in the container.
    .replaceAll("docker compose exec -T postgres ", "")
    .replaceAll(/--file=\S*roles\.sql/g, "--file=tools/deploy/postgres/roles.sql");
  await runCommands(code, environmentOf(options));
}

/** Runs the block as the user of PostgreSQL, in the folder. */
export async function runServerBlock(mark: string, options: GuideOptions): Promise<void> {
  await runAsServer(await codeOf(mark), options);
}

/** The signal ends the command, and rejects. */
export async function runAsServer(code: string, options: GuideOptions, signal?: AbortSignal): Promise<void> {
  const environment = environmentOf(options);
  await runPostgresProgram("sh", ["-euc", code], { cwd: options.folder, environment, signal });
}

/** The variables that the guide names, with the addresses of this server. */
export function environmentOf({ server, folder }: GuideOptions) {
  const { hostname, port } = new URL(server.url);
  const urlOf = (username: string) => Object.assign(new URL(server.url), { pathname: "petstore", username }).href;
  return {
    PATH: postgresPath,
    HOME: folder,
    PGHOST: hostname,
    PGPORT: port,
    PGDATA: join(folder, "data"),
    ADMINISTRATOR_URL: server.url,
    PETSTORE_ADMINISTRATOR_URL: urlOf("postgres"),
    DATABASE_OWNER_URL: urlOf("petstore"),
    DATABASE_URL: urlOf("petstore_service"),
    // In the container of PostgreSQL, these are secrets of compose.
    OWNER_PASSWORD_FILE: join(folder, "petstore-private/owner-password"),
    SERVICE_PASSWORD_FILE: join(folder, "petstore-private/service-password"),
  };
}

export const codeOf = (mark: string): Promise<string> => markedCommands("tools/deploy/operations.md", mark);
