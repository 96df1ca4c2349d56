import { testConfig } from "@petstore/testing/config";

export default testConfig({
  // All files share one store, whose counters some tests compare.
  fileParallelism: false,
  globalSetup: ["./test/global-setup.ts"],
});
