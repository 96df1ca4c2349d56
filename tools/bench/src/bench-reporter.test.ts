import { readFile } from "node:fs/promises";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { expect, test } from "vitest";
import { keepRun } from "./bench-reporter.js";

test("keeps a run under its date and commit, with every round", async () => {
  await using directory = await openTemporaryDirectory();
  const startedAt = "2026-11-21T12:00:00.000Z";
  const rounds = { ours: [{ cpu: 80.12345 }, { cpu: 70 }] };
  const file = keepRun(directory.path, startedAt, "abc1234", [{ name: "one at 32", rounds }]);
  expect(file).toMatch(/\/2026-11-21-abc1234\.json$/);
  const kept = { ours: [{ cpu: 80.12 }, { cpu: 70 }] };
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual([
    { startedAt, commit: "abc1234", machine: expect.any(String) },
    { name: "one at 32", rounds: kept },
  ]);
});
