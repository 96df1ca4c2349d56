import { testConfig, withPostgres } from "@petstore/harness/config";

export default testConfig({
  globalSetup: [...withPostgres.globalSetup, "./test/wait-past-midnight.ts"],
  isolate: false,
});
