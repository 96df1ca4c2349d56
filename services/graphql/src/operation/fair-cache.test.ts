import fc from "fast-check";
import { expect, it } from "vitest";
import { createFairCache } from "./fair-cache.js";

const [other, flooder] = [
  { accountId: 1n, size: 1 },
  { accountId: 2n, size: 1 },
];

function open(limits = { maxEntries: 80, maxSize: 800 }) {
  const { get, add } = createFairCache<string>(limits);
  return { get, add: (key: string, owner = other) => add(key, key, owner) };
}

const keys = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

it("returns what was added", () => {
  const { get, add } = open();
  expect(get("a")).toBeUndefined();
  add("a");
  expect(get("a")).toBe("a");
});

it("gives an account an eighth of the entries, and displaces its least recently used ones", () => {
  const { get, add } = open();
  const own = keys(10, "own");
  for (const key of own) add(key);
  get("own0");
  add("more");
  expect(own.filter((key) => get(key) === undefined)).toEqual(["own1"]);
});

it("gives an account an eighth of the size, and displaces as many of its entries as it must", () => {
  const { get, add } = open();
  for (const key of ["a", "b", "c"]) add(key, { ...other, size: 30 });
  add("large", { ...other, size: 50 });
  expect(["a", "b", "c", "large"].filter((key) => get(key) !== undefined)).toEqual(["c", "large"]);
});

it("does not add an entry that is larger than a share", () => {
  const { get, add } = open();
  add("a");
  add("larger", { ...other, size: 101 });
  expect([get("a"), get("larger")]).toEqual(["a", undefined]);
});

it.each([1, 10, 100])("lets a flood of entries of size %d displace no more than a share of a full cache", (size) => {
  const { get, add } = open();
  const entries = keys(80, "entry");
  for (const [index, key] of entries.entries()) add(key, { accountId: BigInt(100 + index), size: 10 });
  for (const key of keys(1_000, "flood")) add(key, { ...flooder, size });
  const left = entries.filter((key) => get(key) !== undefined);
  expect(left.length).toBeGreaterThanOrEqual(70);
});

it("never holds more than its limits and the shares, whatever accounts add and get", () => {
  const step = fc.record({
    key: fc.nat(40).map((index) => `${index}`),
    accountId: fc.bigInt(1n, 12n),
    size: fc.nat(24).map((size) => size + 1),
    isRead: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { get, add } = createFairCache<{ accountId: bigint; size: number }>({ maxEntries: 24, maxSize: 160 });
      for (const { key, accountId, size, isRead } of steps) {
        if (!isRead && get(key) === undefined) add(key, { accountId, size }, { accountId, size });
        if (isRead) get(key);
      }
      const held = [...Array(41).keys()].flatMap((index) => get(`${index}`) ?? []);
      const sizeOf = (entries: typeof held) => entries.reduce((sum, { size }) => sum + size, 0);
      expect(held.length).toBeLessThanOrEqual(24);
      expect(sizeOf(held)).toBeLessThanOrEqual(160);
      for (const { accountId } of held) {
        const own = held.filter((entry) => entry.accountId === accountId);
        expect(own.length).toBeLessThanOrEqual(3);
        expect(sizeOf(own)).toBeLessThanOrEqual(20);
      }
    }),
  );
});
