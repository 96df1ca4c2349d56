import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const results = new URL("../results", import.meta.url);

describeWithRedis("bench", () => {
  test("a short run measures every server and engine, judges its targets, and is not kept", async () => {
    await using directory = await openTemporaryDirectory();
    const keptBefore = await readdir(results);
    const json = join(directory.path, "out.json");
    const only = ["--only", "rest-create", "--only", "quota at", "--connections", "4,32", "--json", json];
    const args = [main, ...only, "--rounds", "1", "--seconds", "0.2"];
    await using program = startProgram({ name: "The benchmark", args, environment: process.env });
    const exit = await program.ended;
    const output = program.output.join("\n");
    expect(output).toMatch(/^ {4}(?:ok|MISSED) +CPU us/m);
    const line = /^rest-create at 32 +CPU us.* petstore-rest \/ bare-express +\d.* <= 0\.6 +(met|MISSED)$/m;
    const [, verdict] = line.exec(output) ?? [];
    expect({ verdict, exit }).toEqual(verdict === "met" ? { verdict, exit: 0 } : { verdict: "MISSED", exit: 1 });
    const { testResults } = JSON.parse(await readFile(json, "utf8"));
    const measured: Record<string, string[]> = {};
    for (const { title, meta } of testResults[0].assertionResults) measured[title] = Object.keys(meta.rounds ?? {});
    expect(measured).toMatchObject({
      "rest-create at 4": ["petstore-rest", "bare-express"],
      "rest-create at 32": ["petstore-rest", "bare-express"],
      "quota at 4": ["petstore-redis", "rlf-union"],
      "quota at 32": ["petstore-redis", "rlf-union"],
    });
    expect(await readdir(results)).toEqual(keptBefore);
  });
});
