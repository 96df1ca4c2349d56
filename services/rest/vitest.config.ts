import { testConfig, withPostgres } from "@petstore/harness/config";

export default testConfig({ ...withPostgres, isolate: false });
