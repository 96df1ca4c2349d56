import { testConfig, withPostgres } from "@petstore/harness/config";

export default testConfig({
  globalSetup: [...withPostgres.globalSetup, "./test/wait-past-midnight.ts"],
  isolate: false,
  // More than cores: most tests wait for PostgreSQL and Redis.
  maxWorkers: 3,
});
