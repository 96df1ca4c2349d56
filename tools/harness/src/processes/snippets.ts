/** Runs the examples of our documents like a reader, so that they stay correct. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = new URL("../../../../", import.meta.url);

export interface Snippet {
  readonly language: "sh" | "js";
  readonly code: string;
}

export interface RunOptions {
  /** The whole environment, with PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A folder of a package with the dependencies that the example imports. */
  readonly folder: URL;
}

/** The blocks of a document that can run, in order. The path starts at the root of the repository. */
export async function snippetsOf(path: string): Promise<Snippet[]> {
  const text = await readFile(new URL(path, root), "utf8");
  return [...text.matchAll(/^```(sh|js)\n(.*?)^```$/gms)].map(([, language, code = ""]) => ({
    language: language === "sh" ? "sh" : "js",
    code,
  }));
}

/** The block of a document that follows the comment `<!-- mark -->`. */
export async function markedSnippet(path: string, mark: string): Promise<Snippet> {
  const text = await readFile(new URL(path, root), "utf8");
  const code = text.split(`<!-- ${mark} -->\n\`\`\`sh\n`)[1]?.split("```")[0];
  if (code === undefined) throw new Error(`${path} has no commands marked ${mark}`);
  return { language: "sh", code };
}

/** Runs a block and returns its output. Commands run at the root of the repository. Rejects when it fails. */
export async function runSnippet({ language, code }: Snippet, { env, folder }: RunOptions): Promise<string> {
  if (language === "sh") return (await run("sh", ["-eu", "-c", code], { env, cwd: fileURLToPath(root) })).stdout;
  const file = new URL(`snippet-${randomUUID()}.mjs`, folder);
  await writeFile(file, code);
  try {
    return (await run(process.execPath, [fileURLToPath(file)], { env })).stdout;
  } finally {
    await rm(file);
  }
}
