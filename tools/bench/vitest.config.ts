import { testConfig } from "@petstore/harness/config";

export default testConfig({
  tags: [{ name: "redis-server", description: "Needs redis-server in PATH" }],
  projects: [
    // Most tests start servers. On a busy machine that takes minutes; a test that is stopped has hung.
    { extends: true, test: { name: "self", include: ["{src,test}/**/*.test.ts"], testTimeout: 300_000 } },
    {
      extends: true,
      test: {
        name: "bench",
        include: ["bench/*.test.ts"],
        setupFiles: ["@petstore/harness/project-setup"],
        testTimeout: 60 * 60_000,
      },
    },
  ],
});
