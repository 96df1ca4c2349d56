/** A vitest project: the tests in the folder of its name. */
export interface Project {
  readonly about: string;
  /** The programs of the machine that its tests name as tags. Debian's packages have the same names. */
  readonly programs: readonly string[];
  readonly globalSetup: readonly string[];
  /** For a run of the whole project. */
  readonly minutesAtMost?: number;
}

export const projects: Readonly<Record<string, Project>> = {
  faults: {
    about: "Causes real faults under load against services in processes of their own, and counts the effects.",
    programs: ["redis-server", "haproxy", "pgbouncer", "faketime", "git", "tar"],
    globalSetup: ["@petstore/harness/global-setup"],
    minutesAtMost: 30,
  },
  conformance: {
    about:
      "Starts REST and GraphQL services, and compares both APIs and the typed client with one table of the contract.",
    programs: ["redis-server"],
    globalSetup: ["@petstore/harness/global-setup"],
  },
  "request-path": {
    about: "Prints the source files and functions that one request executes, found by coverage of running services.",
    programs: ["redis-server"],
    globalSetup: ["@petstore/harness/global-setup"],
  },
};
