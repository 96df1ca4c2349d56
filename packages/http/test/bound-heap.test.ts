import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/** Keeps 150 MB, a little in each turn for three seconds, and says how large the young generation has become. */
const program = `
  const bound = process.argv[1];
  if (bound !== undefined) (await import(bound)).boundHeap();
  import { setTimeout } from "node:timers/promises";
  import { getHeapSpaceStatistics } from "node:v8";
  const kept = [];
  for (let turn = 0; turn < 150; turn++) {
    for (let count = 0; count < 10_000; count++) kept.push({ number: kept.length, text: [kept.length] });
    await setTimeout(20);
  }
  console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 2 ** 20);
`;

describe("a program that bounds its heap", () => {
  it("takes a young generation of 16 MiB at most, where it would take more, and ends when it is done", async () => {
    const [bound, free] = await Promise.all([
      youngGenerationMebibytes(import.meta.resolve("../dist/bound-heap.js")),
      youngGenerationMebibytes(),
    ]);
    expect(bound).toBeLessThanOrEqual(16);
    expect(free).toBeGreaterThan(16);
  }, 20_000);
});

async function youngGenerationMebibytes(...words: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program, ...words]);
  return Number(stdout);
}
