/** Engines with a fault: copies of the built quota in which one piece of text is replaced. */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** For each module below src/quota: mistakes that a programmer could make, with text that occurs once, and the wrong text. */
export type FaultsByModule = Readonly<
  Record<string, Readonly<Record<string, readonly [right: string, wrong: string]>>>
>;

export interface Fault {
  readonly module: string;
  readonly fault: string;
  readonly right: string;
  readonly wrong: string;
}

export interface Planted extends AsyncDisposable {
  readonly createLocalQuota: typeof import("../src/quota/engines/local-quota.js").createLocalQuota;
  readonly createRedisQuota: typeof import("../src/quota/engines/redis-quota.js").createRedisQuota;
}

/** Rejects when the text to replace is not there, or more than once. */
export async function plant({ module, right, wrong }: Fault): Promise<Planted> {
  const built = fileURLToPath(new URL("../dist/quota", import.meta.url));
  const directory = await mkdtemp(`${built}-planted-`);
  const dispose = () => rm(directory, { recursive: true, force: true });
  try {
    await cp(built, directory, { recursive: true });
    const file = join(directory, `${module}.js`);
    const pieces = (await readFile(file, "utf8")).split(right);
    if (pieces.length !== 2) throw new Error(`${module} has ${pieces.length - 1} times, not once: ${right}`);
    await writeFile(file, pieces.join(wrong));
    const { createLocalQuota } = await import(pathToFileURL(join(directory, "engines/local-quota.js")).href);
    const { createRedisQuota } = await import(pathToFileURL(join(directory, "engines/redis-quota.js")).href);
    return { createLocalQuota, createRedisQuota, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
