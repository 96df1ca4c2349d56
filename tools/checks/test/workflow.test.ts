// The workflow of GitHub Actions.
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";

const root = new URL("../../../", import.meta.url);
const workflow = parse(await readFile(new URL(".github/workflows/ci.yml", root), "utf8")) as Workflow;

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: { readonly run: Job };
}

interface Job {
  readonly permissions?: unknown;
  readonly strategy: { readonly matrix: { readonly node: readonly string[] } };
  readonly container: { readonly image: string };
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const { run } = workflow.jobs;

it("runs .ci/run on the oldest supported Node.js, and on 22, 24 and 26", async () => {
  const { engines } = JSON.parse(await readFile(new URL("package.json", root), "utf8"));
  expect(run.strategy.matrix.node).toEqual([engines.node.replace(">=", ""), "22", "24", "26"]);
  expect(run.container.image).toMatch(/^node:\$\{\{ matrix\.node \}\}-/);
  expect(run.steps.map((step) => step.run)).toContain(".ci/run");
});

it("may only read the repository, and pins its action to a commit", () => {
  expect(workflow.permissions).toEqual({ contents: "read" });
  expect(Object.keys(workflow.jobs)).toEqual(["run"]);
  expect(run.permissions).toBeUndefined();
  expect(run.steps.filter((step) => step.uses !== undefined)).toEqual([
    { uses: expect.stringMatching(/^actions\/checkout@[0-9a-f]{40}$/), with: { "persist-credentials": false } },
  ]);
});
