import { defineConfig, type ViteUserConfig } from "vitest/config";

/** The vitest configuration of every package. CI adds up the counts of the JSON reports. */
export function testConfig(test: NonNullable<ViteUserConfig["test"]> = {}): ViteUserConfig {
  return defineConfig({
    // Otherwise vitest loads graphql twice, as ES modules and as CommonJS, with two sets of types.
    resolve: { alias: [{ find: /^graphql$/, replacement: "graphql/index.js" }] },
    test: {
      setupFiles: ["@petstore/harness/fail-on-console"],
      // Generous, because no test depends on the speed of the machine.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 20_000 } },
      reporters: ["default", ["json", { outputFile: "test-results.json" }]],
      ...test,
    },
  });
}

/** For tests with PostgreSQL: one temporary server for the test run. */
export const withPostgres: { readonly globalSetup: string[] } = { globalSetup: ["@petstore/harness/global-setup"] };
