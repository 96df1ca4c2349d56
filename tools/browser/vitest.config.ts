import { testConfig } from "@petstore/harness/config";

export default testConfig({
  // All files share one store, whose counters some tests compare.
  fileParallelism: false,
  globalSetup: ["./test/global-setup.ts"],
});
