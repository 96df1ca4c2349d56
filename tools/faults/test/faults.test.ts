import { describeWithRedis } from "@petstore/harness";
import { expect, it } from "vitest";
import { runFaults } from "../src/faults.js";

describeWithRedis("npm run faults", () => {
  it("four processes of two APIs share one account's quota exactly, through a real Redis", async () => {
    const { exitCode, printed } = await faults("--only limit-1");
    expect(printed).toMatch(/admitted of 1000, the fewest: 1 \(= 1\)/);
    expect(printed).toMatch(/admitted of 1000, the most: 1 \(= 1\)/);
    expect(printed).toMatch(/^row +seconds +requests +lost +dup +over +hdr +hang +leak +failed +result$/m);
    expect(exitCode, printed).toBe(0);
  });
});

it("a service that finds no PostgreSQL, or whose password it refuses, is a row too", async () => {
  const { exitCode, printed } = await faults("--only postgres-absent --only wrong-password");
  expect(printed).toMatch(/of both answer \/readyz 503: 2 \(= 2\)/);
  expect(printed).toMatch(/graphql: exit code: 1 \(= 1\)/);
  expect(exitCode, printed).toBe(0);
});

it("a row whose program is missing fails, and says what to install", async () => {
  const path = process.env.PATH;
  process.env.PATH = "";
  const { exitCode, printed } = await faults("--only rolling-restart").finally(() => {
    process.env.PATH = path;
  });
  expect(printed).toContain("no redis-server and haproxy in PATH; on Debian: apt-get install redis-server haproxy");
  expect(exitCode).toBe(1);
});

it("an unknown row is answered with the names and exit code 2", async () => {
  const { exitCode, complained } = await faults("--only nothing");
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
