import { testConfig, withPostgres } from "@petstore/harness/config";
import type { TestProjectInlineConfiguration } from "vitest/config";
import { projects } from "./src/projects.js";

/** A program is a tag: a test that needs it names it, and the setup file of the projects skips the test where it is missing. */
const programs = [...new Set(Object.values(projects).flatMap((project) => project.programs))];

export default testConfig({
  tags: programs.map((name) => ({ name, description: `Needs ${name} in PATH` })),
  // Load, faults and clocks: two files at once would disturb each other.
  fileParallelism: false,
  projects: [
    { extends: true, test: { name: "self", include: ["{src,test}/**/*.test.ts"] } },
    ...Object.keys(projects).map(
      (name): TestProjectInlineConfiguration => ({
        extends: true,
        test: {
          name,
          include: [`${name}/**/*.test.ts`],
          ...withPostgres,
          setupFiles: ["@petstore/harness/project-setup"],
          testTimeout: 30 * 60_000,
          hookTimeout: 5 * 60_000,
        },
      }),
    ),
  ],
});
