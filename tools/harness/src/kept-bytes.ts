import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * The bytes of the heap that stay in use for each value that `make` returns, while the value is kept. With
 * a few hundred values, what else the process keeps does not matter. The first tenth is not counted: the first calls compile the code.
 */
export async function keptBytes(values: number, make: (index: number) => unknown): Promise<number> {
  for (let index = -Math.ceil(values / 10); index < 0; index += 1) await make(index);
  const before = await heapUsed();
  const kept: unknown[] = [];
  while (kept.length < values) kept.push(await make(kept.length));
  const used = (await heapUsed()) - before;
  return used / kept.length;
}

async function heapUsed(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    // What a callback still holds is free in a later turn.
    await setImmediate();
  }
  return process.memoryUsage().heapUsed;
}
