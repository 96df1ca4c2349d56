import { testConfig } from "@petstore/testing/config";

// A browser beside other tests on two cores is slow; what is polled for is true at once where it is true at all.
export default testConfig({
  testTimeout: 60_000,
  hookTimeout: 60_000,
  fileParallelism: false,
  expect: { poll: { timeout: 20_000 } },
});
