import { expect, it } from "vitest";
import { readCommandLine } from "./command-line.js";

const files = ["faults/documents.test.ts", "faults/redis/outage.test.ts", "faults/redis/sharing.test.ts"];

function read(line: string): unknown {
  return readCommandLine(line.split(" "), () => files);
}

const everything = {
  kind: "run",
  project: "faults",
  files: [],
  namePattern: undefined,
  jsonFile: undefined,
  options: {},
};

it.each([
  ["faults", {}],
  ["faults --list", { kind: "list" }],
  ["faults --json out.json", { jsonFile: "out.json" }],
  ["faults --only redis", { files: ["faults/redis/"] }],
  ["faults --only sharing --only documents", { files: ["faults/redis/sharing.test.ts", "faults/documents.test.ts"] }],
  ["faults --name limit-1", { namePattern: "limit-1" }],
  ["faults --name a.b --name (c)", { namePattern: "a\\.b|\\(c\\)" }],
  ["fuzz", { project: "fuzz", options: { requests: "100000" } }],
  ["fuzz --requests 5 --seed 7 --path 4:0", { project: "fuzz", options: { requests: "5", seed: "7", path: "4:0" } }],
])("translates %s into a test run", (line, expected) => {
  expect(read(line)).toEqual({ ...everything, ...expected });
});

it.each([
  ["", /There is no project ""\. The projects are faults, .*fuzz/],
  ["nothing", /There is no project "nothing"/],
  ["faults --only mysql", /There is no subject "mysql"\. The subjects are documents, redis, outage, sharing\./],
  ["faults --quickly", /--quickly/],
  ["faults redis", /redis/],
  ["fuzz --requests 0", /--requests cannot be "0"/],
  ["fuzz --requests 1e6", /--requests cannot be "1e6"/],
  ["fuzz --seed a", /--seed cannot be "a"/],
  ["fuzz --path REST", /--path cannot be "REST"/],
  ["faults --seed 7", /--seed/],
])("refuses the arguments %j with a reason", (line, reason) => {
  expect(read(line)).toEqual({ kind: "wrong", reason: expect.stringMatching(reason) });
});

it("names every subject and program in its help", () => {
  expect(read("faults --help")).toEqual({
    kind: "help",
    text: expect.stringMatching(/Subjects: documents, redis, outage, sharing\nPrograms: redis-server, haproxy/),
  });
});
