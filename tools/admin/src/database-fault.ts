import { Problem } from "@petstore/core";

/** One line for the operator about work on the database that failed, without the password. */
export function explainDatabase(error: unknown, url: string): string {
  const cause = error instanceof Problem ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? `${cause.code}` : "";
  const where = URL.canParse(url) ? new URL(url).host : "its address";
  const known = byCode[code] ?? byCode[code.slice(0, 2)];
  if (known !== undefined) return known(where);
  const message = cause instanceof Error ? cause.message || code || cause.name : `${cause}`;
  return `The database at ${where} cannot be used: ${message.replace(/\.$/, "")}.`;
}

/** By the code of the system call, the SQLSTATE, or its class. */
const byCode: Readonly<Record<string, (where: string) => string>> = {
  ECONNREFUSED: (where) => `Nothing listens at ${where}: start PostgreSQL there, or correct DATABASE_URL.`,
  ECONNRESET: (where) => `What listens at ${where} hung up: it may be no PostgreSQL, or one that is stopping.`,
  ENOTFOUND: (where) => `The host of ${where} is not known: correct DATABASE_URL.`,
  EAI_AGAIN: (where) => `The host of ${where} cannot be looked up now: try again, or correct DATABASE_URL.`,
  "28": (where) => `The database at ${where} refuses the user or the password of DATABASE_URL.`,
  "3D000": (where) =>
    `The database that DATABASE_URL names does not exist at ${where}: create it, or correct the name.`,
  "42P01": () => "The database has no tables yet: run petstore migrate first.",
  "42703": () => "The database has an older schema: run petstore migrate first.",
  "42501": () => "The user of DATABASE_URL may not do this in its database: grant it, or use the owner.",
  "53300": (where) =>
    `The database at ${where} has no connection left: raise max_connections, or lower DATABASE_POOL_SIZE.`,
  "57P03": (where) => `The database at ${where} is starting up or shutting down: try again shortly.`,
};
