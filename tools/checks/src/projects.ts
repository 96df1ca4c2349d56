import type { Project } from "@petstore/harness/projects";

/** The vitest projects, by name. Each has its tests in the folder of its name. */
export const projects: Readonly<Record<string, Project>> = {
  faults: {
    about: "Causes real faults under load against services in processes of their own, and counts the effects.",
    programs: ["redis-server", "haproxy", "patroni", "etcd", "pg_rewind", "pgbouncer", "git", "tar"],
    options: {
      held: {
        about: "seconds of the open insert in lists/open-insert.test.ts (15)",
        pattern: /^[1-9]\d{0,3}$/,
        default: "15",
      },
      creates: {
        about: "creates beside the walks of lists/walks.test.ts (1500)",
        pattern: /^[1-9]\d{0,8}$/,
        default: "1500",
      },
      rows: {
        about: "old idempotency keys in postgres/large-table.test.ts (200000)",
        pattern: /^[1-9]\d{0,8}$/,
        default: "200000",
      },
    },
  },
  conformance: {
    about:
      "Starts REST and GraphQL services, and compares both APIs and the typed client with one table of the contract.",
    programs: ["redis-server"],
  },
  "request-path": {
    about: `Prints the source files and functions that one request executes, found by coverage of running services, and
compares the files with the lists of CONTRIBUTING.md. "npm run generate" updates the lists.`,
    programs: ["redis-server"],
  },
  fuzz: {
    about: `Sends random requests to both APIs, from the OpenAPI document and the GraphQL schema: valid and hostile ones, and
the same operations through both. A failure prints its smallest request and the command that repeats it.`,
    programs: ["redis-server"],
    options: {
      requests: { about: "requests to each API (100000)", pattern: /^[1-9]\d{0,8}$/, default: "100000" },
      seed: { about: "the seed of an earlier run", pattern: /^-?\d{1,10}$/ },
    },
  },
  openapi: {
    about: "Checks the OpenAPI document with two linters, and causes every response that it describes.",
    programs: ["redis-server"],
  },
  client: {
    command: "client:proof",
    about: `Runs the typed client at full speed, in virtual time and for 2 minutes in real time, and through failures of a
running service.`,
    programs: ["redis-server"],
  },
  browser: {
    about: "Uses every page of the running store in Chromium.",
    programs: ["chromium", "python3", "curl"],
  },
  guides: {
    about: "Runs the examples of the README and the guides, and checks every Markdown file.",
    programs: ["redis-server"],
  },
};
