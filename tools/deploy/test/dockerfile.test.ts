import { readFile } from "node:fs/promises";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { readDockerfile, type Stage, stagesOf } from "./dockerfile.js";

const services = ["rest", "graphql"];

describe("the Dockerfile", () => {
  it("has no fault that a linter knows of", async () => {
    const text = await readDockerfile();
    expect(validate(text)).toEqual([]);
    expect(validate(text.replace("WORKDIR /app", "WORKDIR app\nWRKDIR"))).not.toEqual([]);
  });

  it("builds one image for each service and one for the petstore command", async () => {
    const stages = stagesOf(await readDockerfile());
    expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining([...services, "petstore"]));
  });

  it("runs no image as root, nor with a shell or a package manager in it", async () => {
    const stages = stagesOf(await readDockerfile());
    for (const image of [...services, "petstore"]) {
      const lineage = lineageOf(image, stages);
      expect(lineage.at(-1)?.from).toMatch(/^gcr\.io\/distroless\/.*:nonroot$/);
      const users = lineage.flatMap(({ steps }) => steps.filter(({ keyword }) => keyword === "USER"));
      expect(users.map(({ text }) => text)).toEqual(["65532:65532"]);
    }
  });

  it("takes into an image nothing but what the build stage left for it", async () => {
    const stages = stagesOf(await readDockerfile());
    for (const image of [...services, "petstore"]) {
      const steps = lineageOf(image, stages).flatMap((stage) => stage.steps);
      const copies = steps.filter(({ keyword }) => keyword === "COPY" || keyword === "ADD");
      expect(copies).toEqual([{ keyword: "COPY", flags: ["--from=build"], text: `/images/${image} /app` }]);
    }
  });

  it("builds with the pnpm that the workspace names", async () => {
    const manifest = JSON.parse(await readFile(new URL("../../../package.json", import.meta.url), "utf8")) as {
      packageManager: string;
    };
    const named = [...(await readDockerfile()).matchAll(/pnpm@[\d.]+/g)].map(([name]) => name);
    expect(new Set(named)).toEqual(new Set([manifest.packageManager]));
  });
});

/** A stage and those it begins from, down to the image. */
function lineageOf(name: string, stages: readonly Stage[]): Stage[] {
  const stage = stages.find((one) => one.name === name);
  return stage === undefined ? [] : [stage, ...lineageOf(stage.from, stages)];
}
