import { testConfig, withPostgres } from "@petstore/testing/config";

export default testConfig({
  ...withPostgres,
  // Nothing under test has module state, and loading it for every file anew takes longer than the tests.
  isolate: false,
  // No test waits for long; a machine that does other things at the same time may.
  testTimeout: 20_000,
});
