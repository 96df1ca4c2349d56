import { testConfig, withPostgres } from "@petstore/testing/config";

export default testConfig({
  ...withPostgres,
  // No test waits for long; a machine that does other things at the same time may.
  testTimeout: 20_000,
});
