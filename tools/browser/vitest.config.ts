import { testConfig } from "@petstore/testing/config";

// A browser is slow while other tests run on the same two cores.
export default testConfig({
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // All files share one store, whose counters some tests compare.
  fileParallelism: false,
  globalSetup: ["./test/global-setup.ts"],
  expect: { poll: { timeout: 20_000 } },
});
