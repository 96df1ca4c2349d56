export { openPgBouncer, type PgBouncer } from "./pgbouncer.js";
export {
  openPostgresServer,
  openSession,
  openTemporaryPostgres,
  type PostgresServer,
  type Session,
  sparedName,
} from "./postgres-server.js";
