import { expect, test } from "vitest";
import { type Sample, slopeOf } from "./slope.js";

test("points on a line have its slope, without noise", () => {
  const { slope, noise } = slopeOf([0, 1, 2, 5].map((x) => ({ x, y: 3 + 2 * x })));
  expect(slope).toBeCloseTo(2, 10);
  expect(noise).toBeCloseTo(0, 6);
});

test("the noise is three standard errors of the textbook, where neighbours do not resemble each other", () => {
  // Residuals 1, -2, 1 after a slope of 1: variance 6 / (3 - 2), spread of x 2, standard error sqrt(3).
  const { slope, noise } = slopeOf([
    { x: 0, y: 1 },
    { x: 1, y: -1 },
    { x: 2, y: 3 },
  ]);
  expect(slope).toBeCloseTo(1, 10);
  expect(noise).toBeCloseTo(3 * Math.sqrt(3), 10);
});

test("there is no slope of fewer than three samples", () => {
  const line: Sample[] = [
    { x: 0, y: 1 },
    { x: 1, y: 2 },
  ];
  expect(slopeOf(line)).toEqual({ slope: Number.NaN, noise: Number.NaN });
  expect(slopeOf([])).toEqual({ slope: Number.NaN, noise: Number.NaN });
});

// A soak as it is: 90 samples, one every 5 s, of a live heap that swings by a few hundred kilobytes.
const heap = { bytes: 40_000_000, swing: 300_000, samples: 90, everySeconds: 5, requestsPerSecond: 1_000 };

test("a heap that only swings is not said to grow, but for about one seed in 300", () => {
  const grown = seeds(1_000).filter((seed) => isGrowing(soak(seed, 0, 0)));
  expect(grown.length).toBeLessThanOrEqual(10);
});

test("nor is one that swings slowly, so that neighbouring samples are alike", () => {
  const grown = seeds(1_000).filter((seed) => isGrowing(soak(seed, 0, 0.6)));
  expect(grown.length).toBeLessThanOrEqual(25);
});

test.each([0, 0.6])("a leak of 100 bytes a request is always seen, with neighbours alike by %d", (likeness) => {
  expect(seeds(1_000).filter((seed) => !isGrowing(soak(seed, 100, likeness)))).toEqual([]);
});

function isGrowing(samples: readonly Sample[]): boolean {
  const { slope, noise } = slopeOf(samples);
  return slope > noise;
}

function soak(seed: number, leakBytes: number, likeness: number): Sample[] {
  const random = randomOf(seed);
  let swing = 0;
  return Array.from({ length: heap.samples }, (_, index) => {
    const x = index * heap.everySeconds;
    swing = likeness * swing + (1 - likeness) * (random() - 0.5) * 2 * heap.swing;
    return { x, y: heap.bytes + swing + leakBytes * heap.requestsPerSecond * x };
  });
}

function seeds(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** Mulberry32: 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
