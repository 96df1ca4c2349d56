// The files that GitHub and editors read. GitHub itself runs the workflows: here they are only read.
import { readFile } from "node:fs/promises";
import { repository } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { read, run } from "./commands.js";

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> };
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}

const ofRoot = (path: string) => readFile(new URL(path, repository), "utf8");
const publish: Workflow = parse(await ofRoot(".github/workflows/publish.yml"));

describe.each(["ci.yml", "publish.yml"])("the workflow %s", (name) => {
  it("uses only actions whose code is pinned by its hash", async () => {
    const uses = (await ofRoot(`.github/workflows/${name}`)).match(/uses: .*/g) ?? [];
    expect(uses).not.toEqual([]);
    for (const line of uses) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it("has scripts that bash understands", async () => {
    const { jobs }: Workflow = parse(await ofRoot(`.github/workflows/${name}`));
    for (const { run: script } of Object.values(jobs).flatMap(({ steps }) => steps)) {
      if (script !== undefined) await run("bash", ["-nc", script]);
    }
  });

  it("puts no text of an event into a script", async () => {
    const { jobs }: Workflow = parse(await ofRoot(`.github/workflows/${name}`));
    const scripts = Object.values(jobs).flatMap(({ steps }) => steps.flatMap((step) => step.run ?? []));
    expect(scripts.filter((script) => script.includes("${{"))).toEqual([]);
  });
});

it("a tag publishes every image that the Dockerfile has", async () => {
  const targets = [...(await read("Dockerfile")).matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, target]) => target);
  const inner = ["build", "build-standalone", "runtime", "service"];
  expect(publish.jobs.image?.strategy?.matrix.target).toEqual(
    expect.arrayContaining(targets.filter((target) => !inner.includes(target ?? ""))),
  );
});

it("a workflow that publishes has no right that its jobs do not name, and only the client proves who publishes", () => {
  expect(publish.permissions).toEqual({});
  const rights = Object.entries(publish.jobs).map(([name, { permissions }]) => [name, permissions]);
  expect(Object.fromEntries(rights)).toEqual({
    image: { contents: "read", packages: "write" },
    version: { packages: "write" },
    client: { contents: "read", "id-token": "write" },
  });
});

it("the container for development has the programs that CI installs", async () => {
  const [, inCi = ""] = /declare -A packages=\((.*)\)/.exec(await ofRoot(".ci/run")) ?? [];
  const names = [...inCi.matchAll(/\]=(\S+)/g)].map(([, name]) => name);
  const dockerfile = await ofRoot(".devcontainer/Dockerfile");
  const [, installed = ""] = /--no-install-recommends \\\n((?:.*\\\n)*?.*?)\n +&&/.exec(dockerfile) ?? [];
  const found = installed.replaceAll("\\", " ").split(/\s+/).filter(Boolean);
  expect(found.sort()).toEqual(names.sort());
});
