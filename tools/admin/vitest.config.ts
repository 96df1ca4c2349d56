import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "@petstore/testing/global-setup",
    setupFiles: "@petstore/testing/fail-on-console",
  },
});
