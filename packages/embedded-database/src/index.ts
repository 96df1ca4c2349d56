export { administrator } from "./cluster.js";
export { dataDirectory } from "./data-directory.js";
export {
  type EmbeddedDatabase,
  type EmbeddedDatabaseOptions,
  embeddedDatabaseUrl,
  type OpenedEmbeddedDatabase,
  openEmbeddedDatabase,
} from "./embedded-database.js";
export { choosePort, isPortFree, loopback } from "./port.js";
