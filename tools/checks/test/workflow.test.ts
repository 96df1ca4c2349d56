// The workflow of GitHub Actions.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";

const root = new URL("../../../", import.meta.url);
const workflow = parse(await readFile(new URL(".github/workflows/ci.yml", root), "utf8"));
const { engines } = JSON.parse(await readFile(new URL("package.json", root), "utf8"));

it("runs .ci/run on the oldest supported Node.js, and on 22, 24 and 26", () => {
  expect(workflow.jobs.run).toMatchObject({
    strategy: { matrix: { node: [engines.node.replace(">=", ""), "22", "24", "26"] } },
    container: { image: expect.stringMatching(/^node:\$\{\{ matrix\.node \}\}-/) },
    steps: expect.arrayContaining([expect.objectContaining({ run: ".ci/run" })]),
  });
});
