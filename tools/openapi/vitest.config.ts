import { testConfig, withPostgres } from "@petstore/harness/config";

export default testConfig({ ...withPostgres, testTimeout: 60_000 });
