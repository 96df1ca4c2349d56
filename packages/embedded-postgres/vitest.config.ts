import { defineConfig } from "vitest/config";

// Not @petstore/harness's: that package starts its servers with this one.
export default defineConfig({
  test: {
    testTimeout: 60_000,
    reporters: ["default", ["json", { outputFile: "test-results.json" }]],
  },
});
