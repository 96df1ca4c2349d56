import { testConfig, withPostgres } from "@petstore/testing/config";

export default testConfig({ globalSetup: [...withPostgres.globalSetup, "./test/away-from-midnight.ts"] });
