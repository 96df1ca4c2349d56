export { openEtcdServer } from "./etcd-server.js";
export { type Impostor, type ImpostorOptions, openImpostor } from "./impostor.js";
export {
  type InstalledPostgres,
  openInstalledPostgres,
  openServerDirectory,
  postgresPath,
  runPostgresProgram,
  serverUser,
} from "./installed-postgres.js";
export { openPatroniCluster } from "./patroni-cluster.js";
export type { PatroniNode } from "./patroni-node.js";
export { openPgBouncer, type PgBouncer } from "./pgbouncer.js";
export {
  administratorUrl,
  openPostgresServer,
  openSession,
  type PostgresServer,
  query,
  type Session,
  sparedName,
} from "./postgres-server.js";
