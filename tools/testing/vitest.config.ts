import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: ["@petstore/testing/global-setup"],
    setupFiles: ["@petstore/testing/fail-on-console"],
  },
});
