// The passwords and certificates that the operations guide has made.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const folder = fileURLToPath(new URL("../", import.meta.url));

export interface Secrets extends AsyncDisposable {
  /** The folder that compose.yaml calls `./secrets`. */
  readonly path: string;
}

/** Runs the commands of the guide in a folder of its own. Disposing removes it. */
export async function makeSecrets(): Promise<Secrets> {
  const guide = await readFile(join(folder, "operations.md"), "utf8");
  const commands = /<!-- secrets -->\n```sh\n([^`]*)```/.exec(guide)?.[1];
  if (commands === undefined) throw new Error("The guide has no commands that make secrets");
  const place = await mkdtemp(join(tmpdir(), "petstore-secrets-"));
  const atHome = commands.replaceAll("make-secrets.sh", join(folder, "make-secrets.sh"));
  await promisify(execFile)("sh", ["-euc", atHome], { cwd: place });
  return { path: join(place, "secrets"), [Symbol.asyncDispose]: () => rm(place, { recursive: true }) };
}
