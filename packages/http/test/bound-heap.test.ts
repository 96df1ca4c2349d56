import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/** Keeps more and more, and says how large the young generation has become after 1.5 and 3.5 seconds. */
const program = `
  const bound = process.argv[1];
  if (bound !== undefined) (await import(bound)).boundHeap();
  import { setTimeout } from "node:timers/promises";
  import { getHeapSpaceStatistics } from "node:v8";
  const kept = [];
  for (const untilMs of [1_500, 3_500]) {
    while (performance.now() < untilMs) {
      for (let count = 0; count < 10_000; count++) kept.push({ number: kept.length, text: [kept.length] });
      await setTimeout(20);
    }
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 2 ** 20);
  }
`;

describe("a program that bounds its heap", () => {
  it("keeps the young generation as small as it begins for two seconds, lets it grow then, and ends when it is done", async () => {
    const [bound, free] = await Promise.all([
      youngGenerationMebibytes(import.meta.resolve("../dist/bound-heap.js")),
      youngGenerationMebibytes(),
    ]);
    expect(bound[0]).toBeLessThanOrEqual(2);
    expect(bound[1]).toBeGreaterThan(16);
    expect(free[0]).toBeGreaterThan(16);
  }, 20_000);
});

async function youngGenerationMebibytes(...words: readonly string[]): Promise<number[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, ...words]);
  return stdout.trim().split("\n").map(Number);
}
