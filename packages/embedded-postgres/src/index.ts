export { dataDirectory } from "./data-directory.js";
export {
  administratorUrl,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  embeddedPostgresUrl,
  type OpenedEmbeddedPostgres,
  openEmbeddedPostgres,
} from "./embedded-postgres.js";
export { choosePort, isPortFree, loopback } from "./port.js";
export { serviceGrants } from "./roles.js";
