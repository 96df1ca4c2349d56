import { testConfig, withPostgres } from "@petstore/testing/config";

export default testConfig({
  globalSetup: [...withPostgres.globalSetup, "./test/build-images.ts"],
});
