import { testConfig } from "@petstore/testing/config";

export default testConfig({ testTimeout: 120_000 });
