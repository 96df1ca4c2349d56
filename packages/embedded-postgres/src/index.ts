export { dataDirectory } from "./cluster.js";
export { choosePort, loopback } from "./connection.js";
export { type EmbeddedPostgres, embeddedPostgresUrl, openEmbeddedPostgres } from "./embedded-postgres.js";
export { serviceGrants } from "./roles.js";
