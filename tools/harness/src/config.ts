import { defineConfig, type ViteUserConfig } from "vitest/config";

/** The configuration of every package's tests; its counts are left where CI adds them up. */
export function testConfig(test: NonNullable<ViteUserConfig["test"]> = {}): ViteUserConfig {
  return defineConfig({
    // Else vitest loads graphql twice, as ES modules and as CommonJS: two sets of types that do not know each other.
    resolve: { alias: [{ find: /^graphql$/, replacement: "graphql/index.js" }] },
    test: {
      setupFiles: ["@petstore/harness/fail-on-console"],
      // Generous: no test depends on the speed of the machine, and a busy one runs several packages at once.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 20_000 } },
      reporters: ["default", ["json", { outputFile: "test-results.json" }]],
      ...test,
    },
  });
}

/** For tests that need PostgreSQL: one throw-away server for the run. */
export const withPostgres: { readonly globalSetup: string[] } = { globalSetup: ["@petstore/harness/global-setup"] };
