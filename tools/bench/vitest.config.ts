import { testConfig } from "@petstore/harness/config";

// Most tests start servers. On a busy machine that takes minutes; a test that is stopped has hung.
export default testConfig({ testTimeout: 300_000 });
