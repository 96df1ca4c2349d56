import { testConfig } from "@petstore/harness/config";

// A hook starts a PostgreSQL, a Redis and services: on a busy machine that takes as long as a test.
export default testConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
