import { setImmediate as endOfTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPace } from "./pace.js";

/** Takes steps of these sizes at once; returns, for each turn, the steps that were taken in it. */
async function stepsByTurn(sizeOfTurn: number, sizes: readonly number[]): Promise<number[][]> {
  const pace = createPace(sizeOfTurn);
  const turns: number[][] = [[]];
  for (const [place, size] of sizes.entries()) pace.take(size, () => turns.at(-1)?.push(place));
  while (turns.flat().length < sizes.length) {
    turns.push([]);
    await endOfTurn();
  }
  return turns;
}

test.each([
  { sizes: [], turns: [[]] },
  { sizes: [1], turns: [[0]] },
  {
    sizes: [1, 1, 1, 1, 1],
    turns: [
      [0, 1, 2],
      [3, 4],
    ],
  },
  { sizes: [2, 2, 2], turns: [[0, 1], [2]] },
  { sizes: [9, 1, 1], turns: [[0], [1, 2]] },
])("with turns of 3, steps of sizes $sizes are taken in turns $turns", async ({ sizes, turns }) => {
  expect(await stepsByTurn(3, sizes)).toEqual(turns);
});

test("a step taken by another one waits behind those that came before it", async () => {
  const pace = createPace(3);
  const taken: string[] = [];
  pace.take(3, () => taken.push("a"));
  pace.take(1, () => {
    taken.push("b");
    pace.take(1, () => taken.push("of b"));
  });
  pace.take(1, () => taken.push("c"));
  for (let turn = 0; turn < 3; turn += 1) await endOfTurn();
  expect(taken).toEqual(["a", "b", "c", "of b"]);
});

test("no step is taken while the pace that it leads to is spent, and all are afterwards", async () => {
  const next = createPace(1);
  const pace = createPace(1, next);
  const taken: string[] = [];
  for (const name of ["next 1", "next 2"]) next.take(1, () => taken.push(name));
  for (const name of ["first", "second"]) pace.take(1, () => taken.push(name));
  expect(taken).toEqual(["next 1"]);
  for (let turn = 0; turn < 6; turn += 1) await endOfTurn();
  expect(taken).toEqual(["next 1", "next 2", "first", "second"]);
});

test("a small step waits behind the large ones that came before it", async () => {
  expect(await stepsByTurn(3, [3, 3, 1])).toEqual([[0], [1], [2]]);
});

test("a step that is taken later takes no more from its turn than its size", async () => {
  const pace = createPace(2);
  const taken: string[] = [];
  const take = (name: string) => pace.take(1, () => taken.push(name));
  for (const name of ["a", "b", "c"]) take(name);
  expect([pace.isSpent(), pace.waitedMs() > 0]).toEqual([true, true]);
  await endOfTurn();
  expect([pace.isSpent(), pace.waitedMs()]).toEqual([false, 0]);
  for (const name of ["d", "e"]) take(name);
  expect(taken).toEqual(["a", "b", "c", "d"]);
  await endOfTurn();
  await endOfTurn();
  expect([taken, pace.isSpent()]).toEqual([["a", "b", "c", "d", "e"], false]);
});
