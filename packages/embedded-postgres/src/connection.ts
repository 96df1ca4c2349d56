import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import pg from "pg";
import { databaseName, type Role, roleNames } from "./roles.js";

export const loopback = "127.0.0.1";

export interface ScramConnection {
  readonly client: pg.Client;
  readonly ended: Promise<void>;
}

/** A machine whose processors are all busy may take seconds. */
const connectTimeoutMs = 10_000;
/** Below 32768, where Linux begins to take ports for outgoing connections. */
const lowestPort = 20_000;
const highestPort = 32_767;

/**
 * Another program may listen on the port of an earlier server. With SCRAM (RFC 5802) the server proves that it knows the
 * password, and neither side sends it. pg would also send the password in clear text or as an MD5 digest, even after a
 * request for SCRAM, so a request for either ends the connection.
 */
export async function connectWithScram(
  role: Role,
  password: string,
  port: number,
  database: string = databaseName,
): Promise<ScramConnection> {
  let isProven = false;
  const client = new pg.Client({
    host: loopback,
    port,
    user: roleNames[role],
    password,
    database,
    ssl: false,
    options: noOptions,
    application_name: `petstore owner ${process.pid}`,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // These listeners run before the listeners of pg, which writes nothing to a destroyed stream.
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
  // Without a listener, an error would end the process. "end" follows the error.
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

/** The server has no certificate. Neither PGSSLMODE nor PGOPTIONS may change a connection. */
export function databaseUrl(role: Role, password: string, port: number): string {
  const parameters = `sslmode=disable&options=${encodeURIComponent(noOptions)}`;
  return `postgres://${roleNames[role]}:${password}@${loopback}:${port}/${databaseName}?${parameters}`;
}

/** A blank, because pg replaces an empty text by PGOPTIONS. */
const noOptions = " ";

/** The preferred port if it is free, else a random free one. Another program may still take it before the server does. */
export async function choosePort(preferred: number | undefined): Promise<number> {
  if (preferred !== undefined && (await isPortFree(preferred))) return preferred;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(lowestPort, highestPort + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port between ${lowestPort} and ${highestPort} on ${loopback}`);
}

async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: loopback, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
