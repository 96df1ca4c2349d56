/** Engines with a fault: copies of the built quota in which one piece of text is replaced. */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface Replacement {
  /** The path of the module below src/quota, without its extension. */
  readonly module: string;
  /** Text that occurs exactly once. */
  readonly right: string;
  readonly wrong: string;
}

/** A mistake that a programmer could make, as it would look in each engine that could have it. */
export interface Fault {
  readonly fault: string;
  readonly redis?: Replacement;
  readonly local?: Replacement;
}

export interface Planted extends AsyncDisposable {
  readonly createLocalQuota: typeof import("../src/quota/engines/local-quota.js").createLocalQuota;
  readonly createRedisQuota: typeof import("../src/quota/engines/redis-quota.js").createRedisQuota;
}

/** Rejects when the text to replace is not there, or more than once. */
export async function plant({ module, right, wrong }: Replacement): Promise<Planted> {
  const built = fileURLToPath(new URL("../src/quota", import.meta.url));
  const directory = await mkdtemp(`${built}-planted-`);
  try {
    await cp(built, directory, { recursive: true });
    const file = join(directory, `${module}.js`);
    const pieces = (await readFile(file, "utf8")).split(right);
    if (pieces.length !== 2) throw new Error(`${module} has ${pieces.length - 1} times, not once: ${right}`);
    await writeFile(file, pieces.join(wrong));
    const { createLocalQuota } = await import(pathToFileURL(join(directory, "engines/local-quota.js")).href);
    const { createRedisQuota } = await import(pathToFileURL(join(directory, "engines/redis-quota.js")).href);
    const dispose = () => rm(directory, { recursive: true, force: true });
    return { createLocalQuota, createRedisQuota, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

export function inScript(right: string, wrong: string): Replacement {
  return inModule("engines/reserve-script", right, wrong);
}

export function inModule(module: string, right: string, wrong: string): Replacement {
  return { module, right, wrong };
}
