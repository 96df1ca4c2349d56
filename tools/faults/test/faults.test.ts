import { describeWithRedis } from "@petstore/testing";
import { expect, it } from "vitest";
import { runFaults } from "../src/faults.js";

describeWithRedis("npm run faults", () => {
  it("two service processes share one account's quota exactly, through a real Redis", async () => {
    const { exitCode, printed } = await faults("--row shared-exactly --row limit-1");
    expect(printed).toMatch(/admitted of 10000: 1000 \(= 1000\)/);
    expect(printed).toMatch(/admitted of 1000: 1 \(= 1\)/);
    expect(printed).toMatch(/^row +requests +lost +dup +over +hdr +hang +leak +failed +result$/m);
    expect(exitCode, printed).toBe(0);
  });
});

it("an unknown row is answered with the names and exit code 2", async () => {
  const { exitCode, complained } = await faults("--row nothing");
  expect({ exitCode, complained }).toEqual({ exitCode: 2, complained: expect.stringContaining("killed") });
});

async function faults(line: string) {
  const printed: string[] = [];
  const complained: string[] = [];
  const exitCode = await runFaults(line.split(" "), {
    print: (text) => printed.push(text),
    complain: (text) => complained.push(text),
    signal: new AbortController().signal,
  });
  return { exitCode, printed: printed.join("\n"), complained: complained.join("\n") };
}
