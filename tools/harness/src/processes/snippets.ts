/** Runs the examples of our documents like a reader, so that they stay correct. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { repository } from "./repository.js";

const run = promisify(execFile);

export interface Snippet {
  readonly language: "sh" | "js" | "py";
  readonly code: string;
}

/** The blocks of a document that can run, in order. The path starts at the root of the repository. */
export async function snippetsOf(path: string): Promise<Snippet[]> {
  const text = await readFile(new URL(path, repository), "utf8");
  return [...text.matchAll(/^```(sh|js|py)\n(.*?)^```$/gms)].map(([, language, code = ""]) => ({
    language: language as Snippet["language"],
    code,
  }));
}

/** The anchors of the headings in a Markdown text, as GitHub makes them. */
export function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** The commands of a document that follow the comment `<!-- mark -->`. */
export async function markedCommands(path: string, mark: string): Promise<string> {
  const text = await readFile(new URL(path, repository), "utf8");
  const commands = text.split(`<!-- ${mark} -->\n\`\`\`sh\n`)[1]?.split("```")[0];
  if (commands === undefined) throw new Error(`${path} has no commands marked ${mark}`);
  return commands;
}

/** Runs commands at the root of the repository, and returns their output. The environment is whole, with PATH. */
export async function runCommands(commands: string, env: Environment): Promise<string> {
  return (await run("sh", ["-eu", "-c", commands], { env, cwd: fileURLToPath(repository) })).stdout;
}

/** Runs a program of Python, and returns its output. */
export async function runPython(code: string, env: Environment): Promise<string> {
  return (await run("python3", ["-c", code], { env })).stdout;
}

/** Runs a module in the folder of a package that has the imported dependencies, and returns its output. */
export async function runModule(code: string, env: Environment, folder: URL): Promise<string> {
  const file = new URL(`snippet-${randomUUID()}.mjs`, folder);
  await writeFile(file, code);
  try {
    return (await run(process.execPath, [fileURLToPath(file)], { env })).stdout;
  } finally {
    await rm(file);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
