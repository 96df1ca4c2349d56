import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { gather } from "./gather.js";

it("carries out the calls of one kind and turn as one, with an output for each", async () => {
  const carryOut = vi.fn(async (words: readonly string[]) => words.map((word, place) => `${word} ${place}`));
  const call = gather<string, string>(([initial]) => `${initial}`, carryOut);
  expect(await Promise.all(["ant", "bee", "ape", "ant"].map(call))).toEqual(["ant 0", "bee 0", "ape 1", "ant 2"]);
  expect(carryOut.mock.calls).toEqual([[["ant", "ape", "ant"]], [["bee"]]]);
});

it("carries out at most 64 calls as one", async () => {
  const sizes: number[] = [];
  const call = gather<number, number>(
    () => "number",
    async (numbers) => {
      sizes.push(numbers.length);
      return numbers;
    },
  );
  const numbers = Array.from({ length: 130 }, (_, number) => number);
  expect(await Promise.all(numbers.map(call))).toEqual(numbers);
  expect(sizes).toEqual([64, 64, 2]);
});

it("gathers calls that are made one promise after another", async () => {
  const carryOut = vi.fn(async (words: readonly string[]) => words);
  const call = gather<string, string>(() => "word", carryOut);
  const later = async (promises: number) => {
    for (let promise = 0; promise < promises; promise += 1) await undefined;
    return call(`after ${promises}`);
  };
  await Promise.all([0, 1, 10].map(later));
  expect(carryOut.mock.calls).toEqual([[["after 0", "after 1", "after 10"]]]);
});

it("shares nothing that was begun before a call was made", async () => {
  let changes = 0;
  const begun: number[] = [];
  const read = gather<string, number>(
    () => "changes",
    async (readers) => {
      const seen = changes;
      begun.push(readers.length);
      await endOfTurn();
      return readers.map(() => seen);
    },
  );
  const before = read("before");
  await vi.waitUntil(() => begun.length === 1, { interval: 0 });
  changes = 1;
  const after = read("after");
  expect(await Promise.all([before, after])).toEqual([0, 1]);
  expect(begun).toEqual([1, 1]);
});

it("fails for all calls of a group, and for no others", async () => {
  const call = gather<string, string>(
    (word) => word,
    async (words) => {
      if (words[0] === "bad") throw new Error("bad word");
      return words;
    },
  );
  const outcomes = await Promise.allSettled(["bad", "good", "bad"].map(call));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  await expect(call("good")).resolves.toBe("good");
});

it("carries a group out in the context of the call that opened it, and goes on in that of each caller", async () => {
  const request = new AsyncLocalStorage<string>();
  const carriedOutIn: (string | undefined)[] = [];
  const call = gather<string, string>(
    (word) => word,
    async (words) => {
      carriedOutIn.push(request.getStore());
      return words;
    },
  );
  const ask = (name: string, word: string) =>
    request.run(name, async () => {
      await call(word);
      return request.getStore();
    });
  expect(await Promise.all([ask("first", "ant"), ask("second", "bee"), ask("third", "bee")])).toEqual([
    "first",
    "second",
    "third",
  ]);
  expect(carriedOutIn).toEqual(["first", "second"]);
});
