// Reads the Dockerfile, and executes its build once for a test run, without a container.
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import dockerignore from "@balena/dockerignore";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { DockerfileParser, type Instruction } from "dockerfile-ast";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Has a folder for each image, which becomes its `/app`. */
    imagesDirectory: string;
  }
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

export async function readDockerfile(): Promise<string> {
  return await readFile(new URL("../Dockerfile", import.meta.url), "utf8");
}

/** The instructions that a target is made of, from its base image on; none if there is no such target. */
export async function instructionsOf(target: string): Promise<Instruction[]> {
  const dockerfile = DockerfileParser.parse(await readDockerfile());
  const from = dockerfile.getFROMs().find((one) => one.getBuildStage() === target);
  const start = from?.getRange()?.start;
  if (from === undefined || start === undefined) return [];
  const own = dockerfile.getContainingImage(start)?.getInstructions() ?? [];
  return [...(await instructionsOf(from.getImage() ?? "")), ...own];
}

/** Provides `imagesDirectory`; returns the teardown. vitest calls it by its name. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const temporary = await openTemporaryDirectory();
  // The user of the image is not the user who builds it.
  await chmod(temporary.path, 0o755);
  await executeBuild(temporary.path);
  project.provide("imagesDirectory", join(temporary.path, "images"));
  return async () => temporary[Symbol.asyncDispose]();
}

/** Executes the target `build` in a folder instead of the root of the image. */
async function executeBuild(imageRoot: string): Promise<void> {
  const environment: Record<string, string | undefined> = { ...process.env, NODE_ENV: undefined };
  let directory = imageRoot;
  for (const instruction of await instructionsOf("build")) {
    const text = instruction.getArgumentsContent() ?? "";
    switch (instruction.getKeyword()) {
      case "FROM":
        break;
      case "ENV":
        for (const [, name = "", value] of text.matchAll(/(\w+)=(\S*)/g)) environment[name] = value;
        break;
      case "WORKDIR":
        directory = join(imageRoot, text);
        await mkdir(directory, { recursive: true });
        break;
      case "COPY":
        if (text !== ". .") throw new Error(`The test cannot execute COPY ${text}`);
        await copyContext(directory);
        break;
      case "RUN": {
        const command = text.replaceAll(" /images", ` ${imageRoot}/images`);
        await promisify(execFile)("sh", ["-ec", command], { cwd: directory, env: environment });
        break;
      }
      default:
        throw new Error(`The test cannot execute ${instruction.getKeyword()}`);
    }
  }
}

/** Copies every file that the ignore file does not exclude. */
async function copyContext(directory: string): Promise<void> {
  const patterns = await readFile(new URL("../Dockerfile.dockerignore", import.meta.url), "utf8");
  const ignore = dockerignore.default().add(patterns.split("\n"));
  await cp(root, directory, {
    recursive: true,
    filter: (path) => path === root || !ignore.ignores(relative(root, path)),
  });
}
