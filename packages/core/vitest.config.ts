import { testConfig, withPostgres } from "@petstore/harness/config";

export default testConfig({
  ...withPostgres,
  isolate: false,
  // More than cores: most tests wait for PostgreSQL and Redis.
  maxWorkers: 3,
});
