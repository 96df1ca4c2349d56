export { dataDirectory } from "./data-directory.js";
export {
  administratorUrl,
  type EmbeddedDatabase,
  type EmbeddedDatabaseOptions,
  embeddedDatabaseUrl,
  type OpenedEmbeddedDatabase,
  openEmbeddedDatabase,
} from "./embedded-database.js";
export { choosePort, isPortFree, loopback } from "./port.js";
export { serviceGrants } from "./roles.js";
