import { testConfig, withPostgres } from "@petstore/testing/config";

export default testConfig({ ...withPostgres, testTimeout: 20_000 });
