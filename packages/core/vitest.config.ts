import { testConfig, withPostgres } from "@petstore/testing/config";

export default testConfig({ globalSetup: [...withPostgres.globalSetup, "./test/wait-past-midnight.ts"] });
