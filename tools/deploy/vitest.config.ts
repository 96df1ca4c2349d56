import { testConfig, withPostgres } from "@petstore/harness/config";

export default testConfig({
  globalSetup: [...withPostgres.globalSetup, "./test/dockerfile.ts"],
});
