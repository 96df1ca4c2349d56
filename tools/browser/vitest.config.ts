import { testConfig } from "@petstore/testing/config";

export default testConfig({ testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false });
