// How much a reader has to read to follow one request. The coverage of running services decides what it executes.
import { isRedisInstalled } from "@petstore/harness";
import { describe } from "vitest";
import { it } from "../src/it.js";
import { createPetRequest, executedFiles, listRequest, sizeOf } from "./executed-files.js";

// Without Redis, a request executes other files.
describe.skipIf(!isRedisInstalled())("the files and lines that a request executes are within the limit", () => {
  it.for([
    ["a list over REST", listRequest],
    ["a create over GraphQL", createPetRequest],
  ] as const)("%s", async ([_what, measured], { figures }) => {
    const executed = await executedFiles(measured);
    const rows = executed.map(
      ({ path, lines, functions }) => `${`${lines}`.padStart(7)}  ${path}: ${functions.join(", ")}`,
    );
    process.stdout.write(`\n${measured.title}\n  lines  file: functions with a name\n${rows.join("\n")}\n`);
    const size = sizeOf(executed);
    figures.atMost(measured.limit.files, "files", size.files);
    figures.atMost(measured.limit.lines, "lines", size.lines);
  });
});
