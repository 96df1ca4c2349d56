import { expect, test } from "vitest";
import { checkOpenFiles } from "./open-files.js";

test("as many connections as there may be open files, and a few more files, are accepted", () => {
  expect(() => checkOpenFiles(10_000, 10_200)).not.toThrow();
  expect(() => checkOpenFiles(10_000, 10_199)).toThrow();
});

test("too low a limit is said, with both ways out", () => {
  expect(() => checkOpenFiles(10_000, 4_096)).toThrow(
    "10000 idle connections need 10200 open files in one process, and this shell allows 4096: " +
      "raise it with ulimit -Hn 10200 as root, or ask for --idle 3896",
  );
});

test("what this process may open is known where the system tells", () => {
  expect(() => checkOpenFiles(1)).not.toThrow();
});
