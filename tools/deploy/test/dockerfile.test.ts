import { serviceFlags } from "@petstore/harness/processes";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { commandOf, lineageOf, readDockerfile, stagesOf } from "./dockerfile.js";

const services = ["rest", "graphql"];
const images = [...services, "petstore"];
const text = await readDockerfile();
const stages = stagesOf(text);

describe("the Dockerfile", () => {
  it("has no fault that a linter knows of", () => {
    expect(validate(text)).toEqual([]);
    expect(validate(text.replace("WORKDIR /app", "WORKDIR app\nWRKDIR"))).not.toEqual([]);
  });

  it("runs no image as root, nor with a shell or a package manager in it", () => {
    for (const image of images) {
      const lineage = lineageOf(image, stages);
      expect(lineage.at(-1)?.from).toMatch(/^gcr\.io\/distroless\/.*:nonroot$/);
      const users = lineage.flatMap(({ steps }) => steps.filter(({ keyword }) => keyword === "USER"));
      expect(users.map(({ text }) => text)).toEqual(["65532:65532"]);
    }
  });

  it("starts Node in every image so that no code can be made from text", () => {
    for (const image of images) {
      expect(commandOf(image, stages)).toEqual(["/nodejs/bin/node", ...serviceFlags, "/app/dist/main.js"]);
    }
  });

  it("copies only the output of the build into an image", () => {
    for (const image of images) {
      const steps = lineageOf(image, stages).flatMap(({ steps }) => steps);
      const copies = steps.filter(({ keyword }) => keyword === "COPY" || keyword === "ADD");
      expect(copies).toEqual([{ keyword: "COPY", flags: ["--from=build"], text: `/images/${image} /app` }]);
    }
  });

  it("listens on every address of a container, for Prometheus and the kubelet too", () => {
    for (const service of services) {
      const steps = stages.find(({ name }) => name === service)?.steps ?? [];
      const variables = steps.filter(({ keyword }) => keyword === "ENV").map(({ text }) => text);
      expect(variables).toEqual(["HOST=0.0.0.0 PORT=3000 METRICS_HOST=0.0.0.0 METRICS_PORT=9464"]);
    }
  });
});
