import { testConfig, withPostgres } from "@petstore/harness/config";

export default testConfig({
  ...withPostgres,
  // Nothing under test has module state, and loading it for every file anew takes longer than the tests.
  isolate: false,
});
