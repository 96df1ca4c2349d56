import pg from "pg";
import { type Role, roleNames } from "./passwords.js";
import { loopback } from "./port.js";

export interface ConnectOptions {
  readonly port: number;
  readonly role: Role;
  readonly password: string;
  readonly database: string;
}

export interface Connection {
  readonly client: pg.Client;
  /** Resolves when either side has ended the connection. */
  readonly ended: Promise<void>;
}

const connectTimeoutMs = 3_000;

/**
 * Connects to a server that proves that it knows the password. With SCRAM (RFC 5802) both sides do, and neither sends it.
 * pg would also answer a request for the password in clear text or as an MD5 digest, even after a request for SCRAM.
 * Another program may listen on a port that was once ours, so each such request ends the connection.
 */
export async function connectWithScram({ port, role, password, database }: ConnectOptions): Promise<Connection> {
  let isProven = false;
  const client = new pg.Client({
    host: loopback,
    port,
    user: roleNames[role],
    password,
    database,
    ssl: false,
    application_name: `petstore owner ${process.pid}`,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // These listeners run before those of pg, which writes nothing to a destroyed stream.
  for (const request of ["authenticationCleartextPassword", "authenticationMD5Password"]) {
    client.connection.prependListener(request, () => {
      client.password = "";
      client.connection.stream.destroy(new Error("The server asked for a password without SCRAM"));
    });
  }
  // pg compares the signature in this message and rejects `connect` when it is wrong.
  client.connection.once("authenticationSASLFinal", () => {
    isProven = true;
  });
  // "end" follows; without a listener the process would die of this event.
  client.on("error", () => {});
  const ended = new Promise<void>((resolve) => client.once("end", () => resolve()));
  try {
    await client.connect();
    if (!isProven) throw new Error("The server did not prove that it knows the password");
    return { client, ended };
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

export function isWrongPassword(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "28P01";
}
