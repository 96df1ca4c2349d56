// The Dockerfile as a list of stages, and the one stage that needs no container executed where the test runs.
import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import dockerignore from "@balena/dockerignore";
import { DockerfileParser, ModifiableInstruction } from "dockerfile-ast";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));
const deploy = fileURLToPath(new URL("../", import.meta.url));

export interface Stage {
  readonly name: string;
  /** An image, or an earlier stage. */
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

export function stagesOf(text: string): Stage[] {
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

/** A stage and those it begins from, down to the image. */
export function lineageOf(name: string, stages: readonly Stage[]): Stage[] {
  const stage = stages.find((one) => one.name === name);
  return stage === undefined ? [] : [stage, ...lineageOf(stage.from, stages)];
}

/** What an image runs before the arguments that it is given. */
export function commandOf(image: string, stages: readonly Stage[]): string[] {
  for (const { steps } of lineageOf(image, stages)) {
    const entrypoint = steps.findLast(({ keyword }) => keyword === "ENTRYPOINT");
    if (entrypoint !== undefined) return JSON.parse(entrypoint.text) as string[];
  }
  throw new Error(`The image ${image} names no program`);
}

/** What the build stage leaves behind. Disposing removes it. */
export interface Built extends AsyncDisposable {
  /** Holds a folder for each image, which becomes its `/app`. */
  readonly directory: string;
}

/** Does what the build stage says, with a folder of its own in place of the root of the image. */
export async function executeBuildStage(): Promise<Built> {
  const stage = stagesOf(await readDockerfile()).find(({ name }) => name === "build");
  if (stage === undefined) throw new Error("The Dockerfile has no stage called build");
  const imageRoot = await mkdtemp(join(tmpdir(), "petstore-image-"));
  // Whoever runs in the image is another user than the one who builds it.
  await chmod(imageRoot, 0o755);
  const environment: Record<string, string | undefined> = { ...process.env, NODE_ENV: undefined };
  let directory = imageRoot;
  for (const { keyword, text } of stage.steps) {
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
    [Symbol.asyncDispose]: () => rm(imageRoot, { recursive: true, force: true }),
  };
}

/** What is sent to the builder: everything the ignore file leaves. */
async function copyContext(directory: string): Promise<void> {
  const patterns = await readFile(join(deploy, "Dockerfile.dockerignore"), "utf8");
  const ignore = dockerignore.default().add(patterns.split("\n"));
  await cp(root, directory, {
    recursive: true,
    filter: (path) => path === root || !ignore.ignores(relative(root, path)),
  });
}
