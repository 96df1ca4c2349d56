import { testConfig } from "@petstore/harness/config";

export default testConfig({ testTimeout: 120_000 });
