import { TLSSocket } from "node:tls";
import type { Client } from "pg";

const requests = {
  authenticationCleartextPassword: "in clear text",
  authenticationMD5Password: "as an MD5 digest",
};

/**
 * Closes the connection if the server asks for the password in a way that shows the password to an impostor, such as a program
 * that took the port of a PostgreSQL that has crashed. With SCRAM (RFC 5802), the server gets no password, and proves that it
 * knows it. A certificate that was checked is a proof too. pg has no setting for this, and answers every request.
 */
export function refuseUnsafePasswordRequests(client: Client): Client {
  const { connection } = client;
  for (const [request, form] of Object.entries(requests)) {
    // `connect` adds the listeners of pg later, so this one runs first.
    connection.on(request, () => {
      if (connection.stream instanceof TLSSocket && connection.stream.authorized) return;
      // pg writes nothing to a destroyed stream.
      client.password = "";
      connection.stream.destroy(
        new Error(
          `the server asks for the password ${form} and does not prove that it is the database, so it gets none: ` +
            "use scram-sha-256 (in a PgBouncer: auth_type), or sslmode=verify-full in DATABASE_URL",
        ),
      );
    });
  }
  return client;
}
