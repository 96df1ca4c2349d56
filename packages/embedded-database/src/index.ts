export { dataDirectory } from "./data-directory.js";
export {
  type EmbeddedDatabase,
  type EmbeddedDatabaseOptions,
  embeddedDatabaseUrl,
  type OpenedEmbeddedDatabase,
  openEmbeddedDatabase,
} from "./embedded-database.js";
