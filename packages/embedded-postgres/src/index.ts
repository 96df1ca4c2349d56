export { chooseAccount, giveTo } from "./account.js";
export { dataDirectory } from "./cluster.js";
export { choosePort, loopback } from "./connection.js";
export {
  administratorUrl,
  type EmbeddedPostgres,
  embeddedPostgresUrl,
  openEmbeddedPostgres,
} from "./embedded-postgres.js";
export { serviceGrants } from "./roles.js";
