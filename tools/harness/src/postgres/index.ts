export { openPgBouncer, type PgBouncer } from "./pgbouncer.js";
export { openPostgresServer, openSession, type PostgresServer, type Session } from "./postgres-server.js";
