export { openPgBouncer, type PgBouncer } from "./pgbouncer.js";
export {
  openPostgresServer,
  openSession,
  openTemporaryPostgres,
  type PostgresServer,
  type Session,
  sparedName,
  type TemporaryPostgres,
} from "./postgres-server.js";
