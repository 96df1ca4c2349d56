// Reads the Dockerfile as a list of stages, and executes its build without a container.
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import dockerignore from "@balena/dockerignore";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { DockerfileParser, ModifiableInstruction } from "dockerfile-ast";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));
const deploy = fileURLToPath(new URL("../", import.meta.url));

export interface DockerStage {
  readonly name: string;
  /** An image or the name of an earlier entry. */
  readonly from: string;
  readonly steps: readonly Step[];
}

interface Step {
  readonly keyword: string;
  readonly text: string;
  /** Such as `--from=build`. */
  readonly flags: readonly string[];
}

export async function readDockerfile(): Promise<string> {
  return readFile(join(deploy, "Dockerfile"), "utf8");
}

export function stagesOf(text: string): DockerStage[] {
  const stages: { name: string; from: string; steps: Step[] }[] = [];
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const argumentsText = instruction.getArgumentsContent() ?? "";
    if (instruction.getKeyword() === "FROM") {
      const [from = "", , name = ""] = argumentsText.split(/\s+/);
      stages.push({ name, from, steps: [] });
      continue;
    }
    const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
    stages.at(-1)?.steps.push({ keyword: instruction.getKeyword(), text: argumentsText, flags: flags.map(String) });
  }
  return stages;
}

/** The stages that an image is made of, down to the base image. */
export function lineageOf(name: string, stages: readonly DockerStage[]): DockerStage[] {
  const found = stages.find((one) => one.name === name);
  return found === undefined ? [] : [found, ...lineageOf(found.from, stages)];
}

/** The ENTRYPOINT of an image. */
export function commandOf(image: string, stages: readonly DockerStage[]): string[] {
  for (const { steps } of lineageOf(image, stages)) {
    const entrypoint = steps.findLast(({ keyword }) => keyword === "ENTRYPOINT");
    if (entrypoint !== undefined) return JSON.parse(entrypoint.text) as string[];
  }
  throw new Error(`The image ${image} names no program`);
}

/** The output of the build. Disposing removes it. */
export interface Built extends AsyncDisposable {
  /** Has a folder for each image, which becomes its `/app`. */
  readonly directory: string;
}

/** Executes the stages of the build in a new folder instead of the root of the image. */
export async function executeBuild(): Promise<Built> {
  const build = stagesOf(await readDockerfile()).find(({ name }) => name === "build");
  if (build === undefined) throw new Error("The Dockerfile has no FROM ... AS build");
  const temporary = await openTemporaryDirectory();
  const imageRoot = temporary.path;
  // The user of the image is not the user who builds it.
  await chmod(imageRoot, 0o755);
  const environment: Record<string, string | undefined> = { ...process.env, NODE_ENV: undefined };
  let directory = imageRoot;
  for (const { keyword, text } of build.steps) {
    switch (keyword) {
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
      case "RUN":
        await run("sh", ["-ec", text.replaceAll(" /images", ` ${imageRoot}/images`)], {
          cwd: directory,
          env: environment,
        });
        break;
      default:
        throw new Error(`The test cannot execute ${keyword}`);
    }
  }
  return {
    directory: join(imageRoot, "images"),
    [Symbol.asyncDispose]: temporary[Symbol.asyncDispose],
  };
}

/** Copies every file that the ignore file does not exclude. */
async function copyContext(directory: string): Promise<void> {
  const patterns = await readFile(join(deploy, "Dockerfile.dockerignore"), "utf8");
  const ignore = dockerignore.default().add(patterns.split("\n"));
  await cp(root, directory, {
    recursive: true,
    filter: (path) => path === root || !ignore.ignores(relative(root, path)),
  });
}
