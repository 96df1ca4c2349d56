import { testConfig, withPostgres } from "@petstore/testing/config";

export default testConfig({
  ...withPostgres,
});
